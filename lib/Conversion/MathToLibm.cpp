//===- MathToLibm.cpp - Accurate math on the host -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "fad/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADMATHTOLIBM
#include "fad/Conversion/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The functions that a module may call after this pass, in double precision;
/// those in single precision have an `f` at the end.
static constexpr StringLiteral kLibmNames[] = {
    "acos",  "acosh", "asin", "asinh", "atan",  "atan2",     "atanh", "cbrt",
    "ceil",  "cos",   "cosh", "erf",   "erfc",  "exp",       "exp2",  "expm1",
    "fabs",  "floor", "fma",  "log",   "log10", "log1p",     "log2",  "pow",
    "round", "rint",  "sin",  "sinh",  "sqrt",  "roundeven", "tan",   "tanh",
    "trunc", "fmod",  "fmax", "fmin",  "sincos"};

/// Emits an error for each function with a body that has such a name: calls
/// would reach it instead of libm.
static LogicalResult verifyNames(ModuleOp module) {
  LogicalResult result = success();
  for (auto function : module.getOps<FunctionOpInterface>()) {
    StringRef name = function.getName();
    StringRef base = name;
    base.consume_back("f");
    if (function.isExternal() || (!llvm::is_contained(kLibmNames, name) &&
                                  !llvm::is_contained(kLibmNames, base)))
      continue;
    result = function.emitOpError("has the name of a function of libm, which "
                                  "the module may call; rename it");
  }
  return result;
}

namespace {
struct MathToLibmPass : fad::impl::FadMathToLibmBase<MathToLibmPass> {
  void runOnOperation() override {
    if (failed(verifyNames(getOperation())))
      return signalPassFailure();
    // libm has no such functions, whatever its patterns say: these go first.
    RewritePatternSet expansions(&getContext());
    math::populateExpansionPatterns(expansions, {"clampf", "fpowi", "rsqrt"});
    RewritePatternSet calls(&getContext());
    populateMathToLibmConversionPatterns(calls);
    arith::populateExpandBFloat16Patterns(calls);
    if (failed(applyPatternsGreedily(getOperation(), std::move(expansions))) ||
        failed(applyPatternsGreedily(getOperation(), std::move(calls))))
      signalPassFailure();
  }
};
} // namespace
