//===- NamedConvolution.h - Names for convolutions --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_NAMEDCONVOLUTION_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_NAMEDCONVOLUTION_H

namespace mlir {
class RewriterBase;

namespace linalg {
class GenericOp;
class LinalgOp;
} // namespace linalg

namespace fad {

/// Replaces `op` by its named form, a convolution or a sum over windows.
/// Returns the new operation, or null if there is no named form; `op` then
/// stays.
linalg::LinalgOp nameConvolution(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_NAMEDCONVOLUTION_H
