//===- ElementwiseRegions.h - Single-source subgraphs -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_PARTITION_ELEMENTWISEREGIONS_H
#define FAD_LIB_TRANSFORMS_PARTITION_ELEMENTWISEREGIONS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir::fad {

/// An elementwise operation on tensors in any spelling: an elementwise-mappable
/// operation, a `linalg` structured operation with identity maps, or
/// `fad.elementwise`.
struct ElementwiseView {
  /// The form in which one operand reaches the scalar body.
  enum class Kind {
    /// A tensor, element by element.
    Tensor,
    /// A tensor of different constants, element by element.
    Constants,
    /// The same scalar for every element: a constant, a splat, or a scalar
    /// that depends on no floating-point tensor.
    Constant,
    /// Not read.
    Unused
  };
  Operation *op;
  /// One for each operand of `op`.
  llvm::SmallVector<Kind> operands;
  /// Scalars that the body captures from above.
  llvm::SmallVector<Value> captures;
};

/// `op` as an elementwise operation in which every floating-point value that
/// depends on another has a derivative rule, or nothing.
std::optional<ElementwiseView> viewElementwise(Operation *op);

/// A maximal set of operations with one source, in program order.
struct SingleSourceRegion {
  Value source;
  llvm::SmallVector<ElementwiseView> members;
};

/// Finds the single-source subgraphs of `block`: an operation is *fad* if it is
/// elementwise and all its non-constant tensor operands have one source. Every
/// other operation is *nfad*; its results, and the arguments of the block, are
/// their own sources. A tensor whose only reader rounds it to a narrower type
/// begins a region after the rounding, because the narrower tensor suffices and
/// the derivative of rounding is 1. All operands of a region dominate its first
/// member.
llvm::SmallVector<SingleSourceRegion> findSingleSourceRegions(Block &block);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_PARTITION_ELEMENTWISEREGIONS_H
