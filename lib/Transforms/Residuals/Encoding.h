//===- Encoding.h - Residuals in few bits -----------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_ENCODING_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_ENCODING_H

#include "Quantizer.h"
#include "fad/Analysis/ScalarFunction.h"
#include "fad/IR/Fad.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir::fad {

/// How a tensor is kept in few bits: for each element the number of the level
/// that it is, or that stands for it.
struct Encoding {
  /// The levels, of the tensor's element type.
  SmallVector<Attribute> levels;
  /// Between the levels: each stands for the elements above the boundary before
  /// it, and not above the one after it. None where each element is a level, so
  /// that what is read is equal to what was written, bit for bit.
  SmallVector<Attribute> boundaries;
  /// Of the levels, where there are boundaries.
  QuantizationError error = {0, 0};

  int64_t getBits() const;
  bool isExact() const { return boundaries.empty(); }
  /// Whether the levels are bytes, each of which is its own number.
  bool isIdentity() const;
  /// What it does, in words.
  std::string describe() const;
};

/// The encodings of tensors, found where they are asked for.
class Encodings {
public:
  /// Derivatives that are not known to take few values get `derivativeBits`
  /// bits an element if that is not zero and they are bounded.
  explicit Encodings(int64_t derivativeBits = 0)
      : derivativeBits(derivativeBits) {}

  /// The encoding of `tensor`: exact for a tensor of i1, for a result of
  /// fad.elementwise whose body yields constants only (the derivative of a
  /// rectifier is 0 or 1), and for positions in windows; `nullopt` where there
  /// is none.
  std::optional<Encoding> find(Value tensor);

private:
  std::optional<Encoding> quantize(Value derivative);

  int64_t derivativeBits;
  llvm::DenseMap<Value, std::optional<Encoding>> encodingOf;
  /// Levels are placed once for each function: layers of a network have the
  /// same.
  struct Quantized {
    ScalarFunction function;
    Type type;
    std::optional<Encoding> encoding;
  };
  std::vector<Quantized> quantized;
};

/// Builds the bytes that hold `tensor`, at the insertion point.
Value encode(OpBuilder &builder, Value tensor, const Encoding &encoding);

/// Builds the tensor of `type` that `bytes` hold, given its dynamic sizes.
Value decode(OpBuilder &builder, Location loc, Value bytes,
             RankedTensorType type, ValueRange sizes, const Encoding &encoding);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_ENCODING_H
