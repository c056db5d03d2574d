//===- MathToLibm.cpp - Accurate math on the host -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "../Utils.h"
#include "ExpandBF16.h"
#include "fad/Codegen/Math/Bits.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADMATHTOLIBM
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Functions of which LLVM may introduce calls. Such a call would reach a
/// function of the program with the same name.
static constexpr StringLiteral kImplicitCalls[] = {
    "abort",     "ceil",       "ceilf",  "floor",   "floorf",  "fma",
    "fmaf",      "fmax",       "fmaxf",  "fmin",    "fminf",   "fmod",
    "fmodf",     "free",       "malloc", "memcpy",  "memmove", "memset",
    "roundeven", "roundevenf", "sincos", "sincosf", "sqrt",    "sqrtf",
    "trunc",     "truncf"};

/// Whether `function` is declared as a function of libm is.
static bool isLibmDeclaration(func::FuncOp function) {
  auto isFloat = [](Type type) { return isa<FloatType>(type); };
  return function.isExternal() &&
         llvm::all_of(function.getArgumentTypes(), isFloat) &&
         llvm::all_of(function.getResultTypes(), isFloat);
}

namespace {
/// Puts the functions of the program out of the way while calls of libm are
/// made, so that these find a declaration and not a function of the program
/// that happens to have the same name.
class HiddenFunctions {
public:
  explicit HiddenFunctions(ModuleOp module) : module(module) {
    SymbolTable symbols(module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (isLibmDeclaration(function))
        continue;
      std::string name = function.getName().str();
      if (succeeded(symbols.renameToUnique(function, {})))
        functions.emplace_back(function.getNameAttr(), name);
    }
  }

  /// Restores the names of functions, or emits an error for each name that is
  /// taken.
  LogicalResult restore() {
    SymbolTable symbols(module);
    LogicalResult result = success();
    for (auto &[hidden, name] : functions) {
      auto function = symbols.lookup<func::FuncOp>(hidden);
      if (!symbols.lookup(name) && !llvm::is_contained(kImplicitCalls, name) &&
          succeeded(symbols.rename(function, name)))
        continue;
      result = function.emitError("@")
               << name
               << " has the name of a function of libc or libm that compiled "
                  "code calls; rename it";
    }
    return result;
  }

private:
  ModuleOp module;
  /// The name that each function has meanwhile, and its own.
  SmallVector<std::pair<StringAttr, std::string>> functions;
};
} // namespace

/// Rounds `value`, an f64 or a vector of it, to f32 by round-to-odd. Rounding
/// the result to fewer digits equals rounding `value`.
static Value roundToOdd(ImplicitLocOpBuilder &b, Value value) {
  Type wide = value.getType(), narrow = withElement(wide, b.getF32Type());
  Value nearest = arith::TruncFOp::create(b, narrow, value);
  Value back = arith::ExtFOp::create(b, wide, nearest);
  Value exact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UEQ, back, value);
  Value size = math::AbsFOp::create(b, value);
  Value backSize = math::AbsFOp::create(b, back);
  Value away =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, backSize, size);

  Value bits = toBits(b, nearest);
  Value awayBits = arith::ExtUIOp::create(b, bits.getType(), away);
  Value towardZero = arith::SubIOp::create(b, bits, awayBits);
  Value odd = fromBits(b, combine<arith::OrIOp>(b, towardZero, 1));
  return arith::SelectOp::create(b, exact, nearest, odd);
}

namespace {
/// Rounds f64 to bf16 through f32, with a single rounding error. Upstream's
/// patterns start from f32, and few systems have the function that LLVM would
/// call.
struct RoundF64ToBF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isF64() ||
        !getElementTypeOrSelf(op.getType()).isBF16())
      return rewriter.notifyMatchFailure(op, "not from f64 to bf16");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(
        op, op.getType(), roundToOdd(builder, op.getIn()),
        op.getRoundingmodeAttr(), op.getFastmathAttr());
    return success();
  }
};

/// Lowers arith.minnumf and arith.maxnumf, whose zeros are interchangeable, to
/// LLVM's minimumnum and maximumnum without signed zeros: the same values by
/// the same instructions. LLVM 22 leaves elements out when it vectorizes a loop
/// that reduces by its minnum or maxnum.
template <typename OpTy> struct LowerMinMaxNum : OpRewritePattern<OpTy> {
  LowerMinMaxNum(MLIRContext *context, StringRef intrinsic)
      : OpRewritePattern<OpTy>(context), intrinsic(intrinsic) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    LLVM::FastmathFlags flags =
        arith::convertArithFastMathFlagsToLLVM(op.getFastmath()) |
        LLVM::FastmathFlags::nsz;
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op->getResultTypes(), rewriter.getStringAttr(intrinsic),
        op->getOperands(),
        LLVM::FastmathFlagsAttr::get(op.getContext(), flags));
    return success();
  }

private:
  StringRef intrinsic;
};

struct MathToLibmPass : fad::impl::FadMathToLibmBase<MathToLibmPass> {
  void runOnOperation() override {
    // libm has no such functions, despite upstream's patterns. The expansions
    // have instructions.
    RewritePatternSet expansions(&getContext());
    math::populateExpansionPatterns(expansions, {"clampf", "fpowi", "rsqrt"});
    expansions.add<RoundF64ToBF16>(&getContext());
    // Simplifying the blocks of many loops would take longer than the rest.
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(expansions),
                                     config)) ||
        failed(expandBF16(getOperation())) || failed(lowerToInstructions()) ||
        failed(checkRoundings(getOperation())))
      return signalPassFailure();
    HiddenFunctions hidden(getOperation());
    RewritePatternSet calls(&getContext());
    populateMathToLibmConversionPatterns(calls);
    // Some calls are in f32 for operations on bf16.
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(calls), config)) ||
        failed(expandBF16(getOperation())))
      return signalPassFailure();
    if (failed(hidden.restore()))
      signalPassFailure();
  }

  /// Lowers operations that have processor instructions, in f32 and f64:
  /// upstream would call libm, and loops with calls are not vectorized. Minima
  /// and maxima are lowered in f16, too.
  LogicalResult lowerToInstructions() {
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addDynamicallyLegalOp<math::AbsFOp, math::CeilOp, math::CopySignOp,
                                 math::FloorOp, math::FmaOp, math::RoundEvenOp,
                                 math::SqrtOp, math::TruncOp>(
        [](Operation *op) {
          Type type = getElementTypeOrSelf(op->getResult(0));
          return !type.isF32() && !type.isF64();
        });
    target.addDynamicallyLegalOp<arith::MinNumFOp, arith::MaxNumFOp>(
        [](Operation *op) {
          return !LLVM::isCompatibleType(op->getResult(0).getType());
        });
    LLVMTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    populateMathToLLVMConversionPatterns(converter, patterns);
    patterns.add<LowerMinMaxNum<arith::MinNumFOp>>(&getContext(),
                                                   "llvm.minimumnum");
    patterns.add<LowerMinMaxNum<arith::MaxNumFOp>>(&getContext(),
                                                   "llvm.maximumnum");
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};
} // namespace
