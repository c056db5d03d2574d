//===- TestDemandedPrecision.cpp - Print what is known of floats ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Says of each operation that computes an f32 in which range that lies, and how
// precise it has to be.
//
//===----------------------------------------------------------------------===//

#include "../TestPasses.h"
#include "fad/Codegen/Math/DemandedPrecision.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace {
struct TestDemandedPrecisionPass
    : PassWrapper<TestDemandedPrecisionPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestDemandedPrecisionPass)

  StringRef getArgument() const override {
    return "test-fad-demanded-precision";
  }
  StringRef getDescription() const override {
    return "Print the range of each float and how precise it has to be";
  }

  void runOnOperation() override {
    fad::FloatRanges ranges(getOperation());
    fad::DemandedPrecision uses(getOperation(), ranges);
    getOperation()->walk([&](Operation *op) {
      if (op->getNumResults() != 1 || op->hasTrait<OpTrait::ConstantLike>() ||
          !getElementTypeOrSelf(op->getResult(0)).isF32())
        return;
      Value value = op->getResult(0);
      fad::FloatRange range = ranges.get(value);
      StringRef precision = uses.isNarrow(value)     ? "narrow"
                            : uses.endsInBF16(value) ? "ends in bf16"
                            : uses.endsNarrow(value) ? "ends narrow"
                                                     : "full";
      std::string text;
      llvm::raw_string_ostream(text)
          << llvm::format("[%.3g, %.3g], ", range.low, range.high) << precision;
      op->emitRemark() << text;
    });
  }
};
} // namespace

void fad::test::registerTestDemandedPrecisionPass() {
  PassRegistration<TestDemandedPrecisionPass>();
}
