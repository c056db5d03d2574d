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

/// Where and how adjoints are emitted.
struct AdjointBuilder {
  /// Adjoints are emitted at its insertion point.
  RewriterBase &builder;
  /// Whether a value depends on an argument that is differentiated.
  llvm::function_ref<bool(Value)> isVaried;
  DerivativeForm form;
  /// What the adjoint adds to the cotangents of tensors that are not operands:
  /// bodies read them at computed indices.
  SmallVector<std::pair<Value, Value>> captured = {};

  /// Whether derivatives are written in terms of results where there is such a
  /// form.
  bool prefersResults() const { return form == DerivativeForm::results; }
};

/// One cotangent for each operand, in the operand's type; null where it is
/// zero or not wanted.
using Cotangents = SmallVector<Value>;

/// The adjoint of `fad.elementwise`, given one cotangent for each result (null
/// where it has none). Where one operand is varied and the body is a chain of
/// operations, the derivative of each result is computed by forward mode in an
/// `fad.elementwise` right after `op`, among the primal operations, and the
/// adjoint multiplies by it; the other bodies are differentiated in place. With
/// `DerivativeForm::both`, one operation is a chain, too.
FailureOr<Cotangents> buildAdjoint(AdjointBuilder &adjoint, ElementwiseOp op,
                                   ValueRange cotangents);

/// The adjoint of any structured operation whose reductions are sums, from the
/// partial derivatives of its scalar body: the cotangent of an operand is the
/// sum, over all iterations that read an element, of the cotangents of the
/// results times the partial derivative there. The iteration space is that of
/// `op`; the loops that the operand's map does not mention become reductions.
FailureOr<Cotangents> buildAdjoint(AdjointBuilder &adjoint, linalg::LinalgOp op,
                                   ValueRange cotangents);

/// The adjoint of `tensor.concat`: slices of the cotangent, all at once,
/// because one operand after the other would add up the sizes of those before
/// it again.
FailureOr<Cotangents> buildAdjoint(AdjointBuilder &adjoint, tensor::ConcatOp op,
                                   ValueRange cotangents);

/// The adjoint of an operation on scalars outside of bodies, from its partial
/// derivatives.
FailureOr<Cotangents> buildScalarAdjoint(AdjointBuilder &adjoint, Operation *op,
                                         ValueRange cotangents);

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_DIFFERENTIATE_ADJOINT_H
