//===- OptionParsers.cpp - Parsers of the values of options ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/OptionParsers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fad;

static thread_local raw_ostream *optionErrors = nullptr;

OptionErrors::OptionErrors(raw_ostream &os) : before(optionErrors) {
  optionErrors = &os;
}

OptionErrors::~OptionErrors() { optionErrors = before; }

bool fad::reportOptionError(llvm::cl::Option &option, const Twine &message) {
  if (!optionErrors)
    return option.error(message);
  *optionErrors << option.ArgStr << ": " << message;
  return true;
}

/// The end of the error for a `text` that is none of `names`: the one that is
/// spelled nearly as it is. Empty where none is, or two are equally near.
static std::string suggest(StringRef text, ArrayRef<StringRef> names) {
  StringRef nearest;
  // A third of the letters may be wrong.
  unsigned least = (text.size() + 2) / 3 + 1;
  for (StringRef name : names) {
    unsigned distance = text.edit_distance_insensitive(name);
    if (distance > least)
      continue;
    nearest = distance < least ? name : "";
    least = distance;
  }
  return nearest.empty() ? "" : ("; did you mean '" + nearest + "'?").str();
}

bool fad::reportUnknownValue(llvm::cl::Option &option, StringRef text,
                             const llvm::cl::generic_parser_base &parser) {
  SmallVector<StringRef> names;
  for (unsigned i = 0, e = parser.getNumOptions(); i != e; ++i)
    names.push_back(parser.getOption(i));
  return reportOptionError(option, "'" + text + "' is none of its values: " +
                                       llvm::join(names, ", ") +
                                       suggest(text, names));
}

/// The names of `options`, in order.
static SmallVector<StringRef>
listNames(const mlir::detail::PassOptions &options) {
  // Only a C-style cast sees a base class that is not public.
  const auto &command = (const llvm::cl::SubCommand &)options;
  auto names = llvm::to_vector(llvm::make_first_range(command.OptionsMap));
  llvm::sort(names);
  return names;
}

LogicalResult fad::parseOptions(mlir::detail::PassOptions &options,
                                StringRef text, std::string &message) {
  llvm::raw_string_ostream os(message);
  OptionErrors errors(os);
  if (succeeded(options.parseFromString(text, os)))
    return success();
  StringRef unknown = StringRef(message).trim();
  if (!unknown.consume_front("<Pass-Options-Parser>: no such option ")) {
    message = unknown.str();
    return failure();
  }
  auto names = listNames(options);
  std::string hint = suggest(unknown, names);
  if (hint.empty())
    hint = names.empty() ? "; there are none"
                         : "; the options are " + llvm::join(names, ", ");
  message = ("there is no option '" + unknown + "'" + hint).str();
  return failure();
}

bool BoolParser::parse(llvm::cl::Option &option, StringRef name, StringRef text,
                       bool &value) {
  // LLVM's spellings; an option without a value is true.
  if (!llvm::is_contained(
          {"", "true", "TRUE", "True", "1", "false", "FALSE", "False", "0"},
          text))
    return reportOptionError(option,
                             "'" + text + "' is neither true nor false");
  return parser::parse(option, name, text, value);
}
