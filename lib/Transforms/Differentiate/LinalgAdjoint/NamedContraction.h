//===- NamedContraction.h - Names for adjoints ------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_NAMEDCONTRACTION_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_NAMEDCONTRACTION_H

namespace mlir {
class RewriterBase;

namespace linalg {
class GenericOp;
class LinalgOp;
} // namespace linalg

namespace fad {

/// Replaces `op` by its named form: `linalg.matmul` or `linalg.batch_matmul`,
/// with indexing maps if an operand is transposed, a product with a vector, any
/// other `linalg.contract`, a convolution, a sum over windows, or
/// `linalg.transpose`. Downstream compilers optimize named operations. Returns
/// the new operation, or `op` if it has no named form.
///
/// Upstream's `specializeGenericOp` is not used: in LLVM 22.1 it drops the
/// transposition of a matmul's operands.
linalg::LinalgOp nameContraction(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_NAMEDCONTRACTION_H
