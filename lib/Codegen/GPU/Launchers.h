//===- Launchers.h - Launches in place of loops -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_GPU_LAUNCHERS_H
#define FAD_LIB_CODEGEN_GPU_LAUNCHERS_H

#include "ElementwiseKernel.h"

namespace mlir::fad {

struct RowSum;

/// Replaces `op`, on buffers, by launches of `kernel`, each of up to
/// `largestLaunch` elements.
void launchElementwise(OpBuilder &builder, linalg::GenericOp op,
                       const ElementwiseKernel &kernel, int64_t largestLaunch);

/// Replaces `op`, on buffers, by launches of the two kernels of `sum`.
void launchRowSum(OpBuilder &builder, linalg::GenericOp op, const RowSum &sum);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_LAUNCHERS_H
