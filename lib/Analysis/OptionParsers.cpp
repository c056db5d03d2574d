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

bool fad::reportUnknownValue(llvm::cl::Option &option, StringRef text,
                             const llvm::cl::generic_parser_base &parser) {
  SmallVector<StringRef> names;
  for (unsigned i = 0, e = parser.getNumOptions(); i != e; ++i)
    names.push_back(parser.getOption(i));
  return reportOptionError(option, "'" + text + "' is none of its values: " +
                                       llvm::join(names, ", "));
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
