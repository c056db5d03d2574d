//===- Tape.h - Values that a tape saves ------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_CANDIDATES_TAPE_H
#define FAD_TRANSFORMS_RESIDUALS_CANDIDATES_TAPE_H

namespace mlir {
namespace func {
class FuncOp;
} // namespace func

namespace fad {

/// Rewrites the derivatives of elementwise regions in the joint function
/// `function` so that they read the values on a tape of the program as written:
/// the values with `fad.tape` become results of the region, and each derivative
/// is computed from the nearest of them instead of from the source.
void exposeTape(func::FuncOp function);

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_RESIDUALS_CANDIDATES_TAPE_H
