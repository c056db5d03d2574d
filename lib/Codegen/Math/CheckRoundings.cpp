//===- CheckRoundings.cpp - Rounding modes without instructions -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Math/CheckRoundings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fad;

LogicalResult fad::checkRoundings(Operation *root) {
  auto result = root->walk([](arith::TruncFOp op) {
    auto mode = op.getRoundingmode();
    if (!mode || *mode == arith::RoundingMode::to_nearest_even)
      return WalkResult::advance();
    op.emitError("there are no instructions that round ")
        << getElementTypeOrSelf(op.getIn()) << " to "
        << getElementTypeOrSelf(op.getType()) << " by '"
        << arith::stringifyRoundingMode(*mode)
        << "'; leave it out, or set to_nearest_even";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
