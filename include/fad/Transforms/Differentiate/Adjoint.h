//===- Adjoint.h - Adjoints of tensor operations ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_DIFFERENTIATE_ADJOINT_H
#define FAD_TRANSFORMS_DIFFERENTIATE_ADJOINT_H

#include "fad/Transforms/DerivativeForm.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Support/LLVM.h"

namespace mlir {
namespace linalg {
class LinalgOp;
} // namespace linalg

namespace tensor {
class ConcatOp;
} // namespace tensor

namespace fad {
class ElementwiseOp;

/// The insertion point and the form of adjoints.
struct AdjointBuilder {
  /// Adjoints are emitted at its insertion point.
  RewriterBase &builder;
  /// Whether a value depends on a differentiated argument.
  llvm::function_ref<bool(Value)> isVaried;
  DerivativeForm form;
  /// Cotangents that the adjoint adds to tensors that are no operands, but that
  /// bodies read at computed indices.
  SmallVector<std::pair<Value, Value>> captured = {};

  /// Whether derivatives are written in terms of results, if a rule has that
  /// form.
  bool prefersResults() const { return form == DerivativeForm::results; }
};

/// One cotangent for each operand, in the operand's type; null for a cotangent
/// that is zero or not needed.
using Cotangents = SmallVector<Value>;

/// The adjoint of `fad.elementwise`, given one cotangent for each result (null
/// if it has none). If one operand is varied and the body is a chain of
/// operations, forward mode computes the derivative of each result in an
/// `fad.elementwise` right after `op`, among the primal operations, and the
/// adjoint multiplies by it; other bodies are differentiated in place. With
/// `DerivativeForm::both`, a single operation is a chain, too.
FailureOr<Cotangents> buildAdjoint(AdjointBuilder &adjoint, ElementwiseOp op,
                                   ValueRange cotangents);

/// The adjoint of any structured operation whose reductions are sums, from the
/// partial derivatives of its scalar body: the cotangent of an operand is the
/// sum, over all iterations that read an element, of the cotangents of the
/// results times the partial derivative there. The iteration space is that of
/// `op`; the loops that the operand's map does not mention become reductions.
FailureOr<Cotangents> buildAdjoint(AdjointBuilder &adjoint, linalg::LinalgOp op,
                                   ValueRange cotangents);

/// The adjoint of `tensor.concat`: slices of the cotangent. All operands are
/// handled at once, because each offset is the sum of the sizes before it.
FailureOr<Cotangents> buildAdjoint(AdjointBuilder &adjoint, tensor::ConcatOp op,
                                   ValueRange cotangents);

/// The adjoint of an operation on scalars outside of bodies, from its partial
/// derivatives.
FailureOr<Cotangents> buildScalarAdjoint(AdjointBuilder &adjoint, Operation *op,
                                         ValueRange cotangents);

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_DIFFERENTIATE_ADJOINT_H
