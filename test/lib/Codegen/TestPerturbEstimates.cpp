//===- TestPerturbEstimates.cpp - Err as GPUs do --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Takes the flags off what fad-approximate-gpu-math marks as an estimate, so
// that a host computes it to the last place, and moves the result by a number
// of units in the last place. Numbers below 2^-126 become zero, as operands and
// as results. That is the most that a GPU may do.
//
//===----------------------------------------------------------------------===//

#include "../TestPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
/// Emits arithmetic on the bits of f32.
struct Bits {
  explicit Bits(Operation *op) : b(op->getLoc(), op) {}

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  }
  Value isBelow(Value bits, int64_t size) {
    Value least = arith::AndIOp::create(b, bits, constant(0x7fffffff));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, least,
                                 constant(size));
  }
  /// `bits`, or zero of the same sign where the number is below 2^-126.
  Value flush(Value bits) {
    Value sign = arith::AndIOp::create(b, bits, constant(int64_t(1) << 31));
    return arith::SelectOp::create(b, isBelow(bits, 0x00800000), sign, bits);
  }
  Value toBits(Value number) {
    return arith::BitcastOp::create(b, b.getI32Type(), number);
  }
  Value toNumber(Value bits) {
    return arith::BitcastOp::create(b, b.getF32Type(), bits);
  }
  /// A number that is not zero, infinite or NaN, `units` further from zero.
  Value move(Value bits, int64_t units) {
    Value moved =
        flush(arith::AddIOp::create(b, bits, constant(units)).getResult());
    Value small = isBelow(bits, 0x00800000);
    Value finite = isBelow(bits, 0x7f800000);
    Value other = arith::SelectOp::create(b, small, flush(bits), moved);
    return arith::SelectOp::create(b, finite, other, bits);
  }

  ImplicitLocOpBuilder b;
};

struct TestPerturbEstimatesPass
    : PassWrapper<TestPerturbEstimatesPass, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPerturbEstimatesPass)

  TestPerturbEstimatesPass() = default;
  TestPerturbEstimatesPass(const TestPerturbEstimatesPass &other)
      : PassWrapper(other) {}

  StringRef getArgument() const override {
    return "test-fad-perturb-estimates";
  }
  StringRef getDescription() const override {
    return "Let estimates err as those of a GPU do";
  }

  void runOnOperation() override {
    SmallVector<Operation *> estimates;
    getOperation().walk([&](Operation *op) {
      auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
      if (flags && isa<math::Exp2Op, arith::DivFOp>(op) &&
          bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(),
                             arith::FastMathFlags::afn))
        estimates.push_back(op);
    });
    for (Operation *op : estimates) {
      op->setAttr("fastmath",
                  arith::FastMathFlagsAttr::get(op->getContext(),
                                                arith::FastMathFlags::none));
      Bits before(op);
      OpOperand &operand = op->getOpOperand(op->getNumOperands() - 1);
      operand.set(before.toNumber(before.flush(before.toBits(operand.get()))));
      Bits after(op);
      after.b.setInsertionPointAfter(op);
      Value bits = after.toBits(op->getResult(0));
      Value moved = after.toNumber(after.move(bits, units));
      op->getResult(0).replaceAllUsesExcept(moved, bits.getDefiningOp());
    }
  }

  Option<int64_t> units{*this, "units",
                        llvm::cl::desc("Units in the last place"),
                        llvm::cl::init(0)};
};
} // namespace

void fad::test::registerTestPerturbEstimatesPass() {
  PassRegistration<TestPerturbEstimatesPass>();
}
