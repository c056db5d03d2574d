//===- SelectionOptions.cpp - Options of a selection ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options of a selection of residuals: how numbers of bytes are read, and the
// errors about them.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::fad;

std::optional<uint64_t> fad::parseBytes(StringRef text) {
  size_t end = text.find_first_not_of("0123456789.");
  StringRef unit = text.substr(std::min(end, text.size())).ltrim(' ');
  double number;
  if (text.take_front(end).empty() || text.take_front(end).getAsDouble(number))
    return std::nullopt;
  auto factor = llvm::StringSwitch<double>(unit)
                    .CasesLower({"", "b"}, 1)
                    .CaseLower("kb", 1e3)
                    .CaseLower("mb", 1e6)
                    .CaseLower("gb", 1e9)
                    .CaseLower("tb", 1e12)
                    .CasesLower({"k", "kib"}, 1024.)
                    .CasesLower({"m", "mib"}, 1024. * 1024)
                    .CasesLower({"g", "gib"}, 1024. * 1024 * 1024)
                    .CasesLower({"t", "tib"}, 1024. * 1024 * 1024 * 1024)
                    .Default(0);
  bool isZero = number == 0;
  number *= factor;
  // A part of a byte is a mistake, such as a fraction in place of bytes.
  if (factor == 0 || !(number < 9e18) || (!isZero && number < 1))
    return std::nullopt;
  return uint64_t(number);
}

std::string fad::explainBytes(StringRef text) {
  // Of a number and a unit, the size alone is wrong.
  size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  double number;
  if (!text.take_front(end).getAsDouble(number) && number > 0 &&
      parseBytes(("1" + text.drop_front(end)).str()))
    return number < 1e6 ? "which is less than a byte"
                        : "which is more than fits in 63 bits";
  return "which is no number of bytes; the units are B, KB, MB, GB, TB, KiB, "
         "MiB, GiB and TiB";
}

bool BytesParser::parse(llvm::cl::Option &option, StringRef, StringRef text,
                        long long &bytes) {
  if (text == "-1") {
    bytes = -1;
    return false;
  }
  std::optional<uint64_t> parsed = parseBytes(text);
  if (!parsed)
    return reportOptionError(option, "the value is '" + text + "', " +
                                         explainBytes(text));
  bytes = *parsed;
  return false;
}
