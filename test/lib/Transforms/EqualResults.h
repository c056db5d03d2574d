//===- EqualResults.h - Whether functions compute the same ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TEST_TRANSFORMS_EQUALRESULTS_H
#define FAD_TEST_TRANSFORMS_EQUALRESULTS_H

namespace mlir {
namespace func {
class FuncOp;
} // namespace func

namespace fad::test {

/// Whether `selected`, a joint function with residuals, computes its results by
/// the same operations on the same values as `joint`, the function that they
/// were selected in: what is saved is read as it is, what is computed again is
/// what was computed, and alternatives are taken for what they stand for. Where
/// tensors get their sizes from is not compared, nor what is only overwritten.
bool haveEqualResults(func::FuncOp selected, func::FuncOp joint);

} // namespace fad::test
} // namespace mlir

#endif // FAD_TEST_TRANSFORMS_EQUALRESULTS_H
