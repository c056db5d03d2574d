//===- Adjoint.h - Adjoints of tensor operations ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_DIFFERENTIATE_ADJOINT_H
#define FAD_TRANSFORMS_DIFFERENTIATE_ADJOINT_H

#include "fad/Interfaces/AdjointOpInterface.h"

namespace mlir {
namespace linalg {
class LinalgOp;
} // namespace linalg

namespace fad {
class ElementwiseOp;

/// The adjoint of `fad.elementwise`, given one cotangent for each result (null
/// if it has none). If one operand is varied and the body is a chain of
/// operations, forward mode computes the derivative of each result in an
/// `fad.elementwise` right after `op`, among the primal operations, and the
/// adjoint multiplies by it; other bodies are differentiated in place. With
/// `DerivativeForm::both`, a single operation is a chain, too.
LogicalResult buildAdjoint(AdjointBuilder &adjoint, ElementwiseOp op,
                           ValueRange cotangents);

/// The adjoint of any structured operation whose reductions are sums, from the
/// partial derivatives of its scalar body: the cotangent of an operand is the
/// sum, over all iterations that read an element, of the cotangents of the
/// results times the partial derivative there. The iteration space is that of
/// `op`; the loops that the operand's map does not mention become reductions.
LogicalResult buildAdjoint(AdjointBuilder &adjoint, linalg::LinalgOp op,
                           ValueRange cotangents);

/// The adjoint of an operation on scalars outside of bodies, from its partial
/// derivatives.
LogicalResult buildScalarAdjoint(AdjointBuilder &adjoint, Operation *op,
                                 ValueRange cotangents);

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_DIFFERENTIATE_ADJOINT_H
