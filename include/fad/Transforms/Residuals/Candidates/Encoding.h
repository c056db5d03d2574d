//===- Encoding.h - Residuals in few bits -----------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_CANDIDATES_ENCODING_H
#define FAD_TRANSFORMS_RESIDUALS_CANDIDATES_ENCODING_H

#include "fad/Analysis/ScalarFunction.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Residuals/Candidates/Quantizer.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir::fad {

/// The encoding of a tensor in few bits: for each element, the number of its
/// level.
struct Encoding {
  /// The levels, of the tensor's element type.
  SmallVector<Attribute> levels;
  /// Between the levels: a level represents the elements above the boundary
  /// before it, up to the one after it. Empty if each element is a level, so
  /// that decoding is exact, bit for bit.
  SmallVector<Attribute> boundaries;
  /// The error of the levels, if boundaries exist.
  QuantizationError error = {0, 0};

  int64_t getBits() const;
  bool isExact() const { return boundaries.empty(); }
  /// Whether the levels are bytes, each equal to its number.
  bool isIdentity() const;
  /// The scalar operations, constants among them, by which a kernel decodes a
  /// code behind the read of its word.
  int64_t countDecoding() const;
  /// The encoding in words.
  std::string describe() const;
};

/// The encodings of tensors, computed on demand.
class Encodings {
public:
  /// If `derivativeBits` is not zero, bounded derivatives that have no exact
  /// encoding get that many bits an element.
  explicit Encodings(int64_t derivativeBits = 0)
      : derivativeBits(derivativeBits) {}

  /// The encoding of `tensor`: exact for a tensor of i1, for a result of
  /// fad.elementwise whose body yields constants only (the derivative of a
  /// rectifier is 0 or 1), and for positions in windows; `nullopt` if there is
  /// none.
  std::optional<Encoding> find(Value tensor);

  /// Clears the encodings of values, whose addresses may be reused after an
  /// erasure; those of functions stay.
  void forgetValues() { encodingOf.clear(); }

private:
  std::optional<Encoding> quantize(Value derivative);

  int64_t derivativeBits;
  llvm::DenseMap<Value, std::optional<Encoding>> encodingOf;
  /// Levels are computed once for each function, because layers of a network
  /// share them.
  struct Quantized {
    ScalarFunction function;
    Type type;
    std::optional<Encoding> encoding;
  };
  std::vector<Quantized> quantized;
};

/// Builds the bytes that encode `tensor`, at the insertion point.
Value encode(OpBuilder &builder, Value tensor, const Encoding &encoding);

/// Builds the tensor of `type` that `bytes` encode, given its dynamic sizes.
Value decode(OpBuilder &builder, Location loc, Value bytes,
             RankedTensorType type, ValueRange sizes, const Encoding &encoding);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_CANDIDATES_ENCODING_H
