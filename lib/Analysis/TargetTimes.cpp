//===- TargetTimes.cpp - Times of operations on a target ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/TargetTimes.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fad;

int64_t fad::getArithmeticTime(Operation *op, const TargetTimes &times) {
  int64_t time = 0;
  op->walk([&](Operation *nested) {
    Dialect *dialect = nested->getDialect();
    std::optional<ActivationTime> slowest;
    if (auto activation = dyn_cast<ActivationOpInterface>(nested))
      slowest = activation.getTime();
    if (isa<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp>(
            nested) ||
        slowest == ActivationTime::division)
      time += times.division;
    else if (isa<arith::ConstantOp, OpaqueOp>(nested))
      ;
    else if (isa_and_nonnull<arith::ArithDialect>(dialect) ||
             isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp,
                 math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp,
                 math::TruncOp, math::IsNaNOp, math::IsInfOp, math::IsFiniteOp,
                 math::ClampFOp>(nested) ||
             slowest == ActivationTime::arithmetic)
      time += times.arithmetic;
    else if (isa_and_nonnull<math::MathDialect>(dialect) ||
             (isa_and_nonnull<FadDialect>(dialect) &&
              !isa<ElementwiseOp, YieldOp>(nested)))
      time += times.transcendental;
  });
  return time;
}
