//===- EscapingStream.h - Text for a terminal -------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_COMMON_ESCAPINGSTREAM_H
#define FAD_TOOLS_COMMON_ESCAPINGSTREAM_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::fad {

/// Writes text that quotes a file, possibly untrusted, to `target`. Control
/// characters, which a terminal would obey, become `\1B` and the like. Line
/// breaks and tabs stay, as do colors that are set through the stream.
class EscapingStream : public llvm::raw_ostream {
public:
  explicit EscapingStream(llvm::raw_ostream &target)
      : raw_ostream(/*unbuffered=*/true), target(target) {}

  raw_ostream &changeColor(enum Colors color, bool bold,
                           bool background) override {
    target.changeColor(color, bold, background);
    return *this;
  }
  raw_ostream &resetColor() override {
    target.resetColor();
    return *this;
  }
  raw_ostream &reverseColor() override {
    target.reverseColor();
    return *this;
  }
  bool is_displayed() const override { return target.is_displayed(); }
  bool has_colors() const override { return target.has_colors(); }

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return target.tell(); }

  llvm::raw_ostream &target;
  /// Whether the last byte begins a character of two bytes that may be a
  /// control character, U+0080 to U+009F.
  bool isPending = false;
};

/// The stream of all errors: the standard error, escaped.
llvm::raw_ostream &escapedErrors();

/// Prints an error that has no location in a file; fails.
llvm::LogicalResult printError(const llvm::Twine &message);

} // namespace mlir::fad

#endif // FAD_TOOLS_COMMON_ESCAPINGSTREAM_H
