//===- EscapingStream.cpp - Text for a terminal ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EscapingStream.h"
#include "llvm/ADT/StringExtras.h"
#include <utility>

using namespace mlir::fad;

/// The lead byte, in UTF-8, of U+0080 to U+00BF.
static constexpr unsigned char kLead = 0xC2;

void EscapingStream::write_impl(const char *data, size_t size) {
  auto escape = [&](unsigned char byte) {
    target << '\\' << llvm::hexdigit(byte >> 4) << llvm::hexdigit(byte & 15);
  };
  for (unsigned char byte : llvm::StringRef(data, size)) {
    bool followsLead = std::exchange(isPending, byte == kLead);
    bool isControl = (byte < 0x20 && byte != '\n' && byte != '\t') ||
                     byte == 0x7F ||
                     (followsLead && byte >= 0x80 && byte < 0xA0);
    if (followsLead && isControl)
      escape(kLead);
    else if (followsLead)
      target << char(kLead);
    if (isPending)
      continue;
    if (isControl)
      escape(byte);
    else
      target << char(byte);
  }
}

llvm::raw_ostream &mlir::fad::escapedErrors() {
  static EscapingStream stream(llvm::errs());
  return stream;
}

llvm::LogicalResult mlir::fad::printError(const llvm::Twine &message) {
  escapedErrors() << "error: " << message << "\n";
  return llvm::failure();
}
