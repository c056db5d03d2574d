//===- CotangentTable.h - Cotangents found so far ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_COTANGENTTABLE_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_COTANGENTTABLE_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fad {

/// The cotangents that reverse mode has found so far, as seen from one block.
/// Readers of a value add to its cotangent; the adjoint of its defining
/// operation takes the sum.
class CotangentTable {
public:
  explicit CotangentTable(OpBuilder &builder) : builder(&builder) {}

  /// Adds `cotangent` to that of `value`.
  void add(Value value, Value cotangent);
  /// Adds `cotangent` to that of the elements of its source that `slice` reads.
  void addSlice(tensor::ExtractSliceOp slice, Value cotangent);
  /// Adds `cotangent` to that of the element of its tensor that `element`
  /// reads.
  void addElement(tensor::ExtractOp element, Value cotangent);
  /// Whether something was added to the cotangent of `value`.
  bool contains(Value value) const { return sums.contains(value); }
  /// Removes and returns the cotangent of `value`; null if it is zero. Emits
  /// the operations that sum it up.
  Value take(Value value);

private:
  struct Slice {
    tensor::ExtractSliceOp op;
    Value cotangent;
  };
  struct Element {
    tensor::ExtractOp op;
    Value cotangent;
  };
  /// The sum of `whole`, where it is not null, and slices and elements of the
  /// tensor.
  struct Sum {
    Value whole;
    SmallVector<Slice> slices;
    SmallVector<Element> elements;
  };

  static bool arePartition(ArrayRef<Slice> slices);
  static bool overlap(const Slice &first, const Slice &second);
  Value addSlices(Value value, const Sum &sum);
  Value addElements(Value value, const Sum &sum);

  OpBuilder *builder;
  llvm::DenseMap<Value, Sum> sums;
};

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_COTANGENTTABLE_H
