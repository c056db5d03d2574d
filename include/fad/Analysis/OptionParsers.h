//===- OptionParsers.h - Parsers of the values of options -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_OPTIONPARSERS_H
#define FAD_ANALYSIS_OPTIONPARSERS_H

#include "mlir/Pass/PassOptions.h"

namespace mlir::fad {

/// While one lives, the errors of the parsers below go to its stream, in its
/// thread. Otherwise LLVM prints them to stderr, as it does for the command
/// line of a program; the caller of a pass, a pipeline or a schedule gets
/// nothing.
class OptionErrors {
public:
  explicit OptionErrors(raw_ostream &os);
  ~OptionErrors();
  OptionErrors(const OptionErrors &) = delete;
  OptionErrors &operator=(const OptionErrors &) = delete;

private:
  raw_ostream *before;
};

/// Reports that the value of `option` is wrong. Returns true, as parsers do.
bool reportOptionError(llvm::cl::Option &option, const Twine &message);

/// Sets `options` as `text` says. On failure, `message` has the reason.
LogicalResult parseOptions(mlir::detail::PassOptions &options, StringRef text,
                           std::string &message);

/// Reports that `text` is none of the values of `parser`, and lists those.
bool reportUnknownValue(llvm::cl::Option &option, StringRef text,
                        const llvm::cl::generic_parser_base &parser);

/// The parser of an option whose values have names.
template <typename T>
struct NamedParser : mlir::detail::PassOptions::OptionParser<T> {
  using Base = mlir::detail::PassOptions::OptionParser<T>;
  using Base::Base;
  bool parse(llvm::cl::Option &option, StringRef name, StringRef text,
             T &value) {
    for (unsigned i = 0, e = this->getNumOptions(); i != e; ++i)
      if (this->getOption(i) == text)
        return Base::parse(option, name, text, value);
    return reportUnknownValue(option, text, *this);
  }
};

/// The type that integers of type `T` are parsed as, which has to be one of
/// those that LLVM's parsers are instantiated for.
template <typename T>
using ParsedInteger =
    std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;

/// The parser of an option that is an integer of type `T`.
template <typename T>
struct IntegerParser : llvm::cl::parser<ParsedInteger<T>> {
  using llvm::cl::parser<ParsedInteger<T>>::parser;
  bool parse(llvm::cl::Option &option, StringRef, StringRef text,
             ParsedInteger<T> &value) {
    if (!text.getAsInteger(0, value))
      return false;
    return reportOptionError(option, "'" + text +
                                         (std::is_signed_v<T>
                                              ? "' is no integer"
                                              : "' is no integer from 0 on"));
  }
};

/// The parser of an option that is true or false.
struct BoolParser : llvm::cl::parser<bool> {
  using llvm::cl::parser<bool>::parser;
  bool parse(llvm::cl::Option &option, StringRef name, StringRef text,
             bool &value);
};

/// The parser of an option of type `T`.
template <typename T>
using ValueParser = std::conditional_t<
    std::is_same_v<T, bool>, BoolParser,
    std::conditional_t<std::is_enum_v<T>, NamedParser<T>, IntegerParser<T>>>;

} // namespace mlir::fad

#endif // FAD_ANALYSIS_OPTIONPARSERS_H
