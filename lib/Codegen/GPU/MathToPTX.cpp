//===- MathToPTX.cpp - Lower math to instructions of PTX ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Utils.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADMATHTOPTX
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The exponent of `op` when it is constant and fits 32 bits.
static std::optional<int64_t> getSmallExponent(math::FPowIOp op) {
  APInt exponent;
  if (!matchPattern(op.getRhs(), m_ConstantInt(&exponent)) ||
      !exponent.isSignedIntN(32))
    return std::nullopt;
  return exponent.getSExtValue();
}

/// Whether the exponent of `op` has a type that libdevice lacks, but that is
/// convertible.
static bool hasConvertibleExponent(math::FPowIOp op) {
  Type type = getElementTypeOrSelf(op.getRhs());
  // An index has 64 bits.
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return width < 32 || (width > 32 && getSmallExponent(op));
}

/// The operand if fad-approximate-gpu-math has marked this 2^x as an estimate,
/// or null.
static Value getEstimated(math::Exp2Op op) {
  bool isEstimate =
      op.getType().isF32() &&
      bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
  return isEstimate ? op.getOperand() : Value();
}

/// The same of a reciprocal.
static Value getEstimated(arith::DivFOp op) {
  bool isEstimate =
      op.getType().isF32() && matchPattern(op.getLhs(), m_OneFloat()) &&
      bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn |
                                               arith::FastMathFlags::arcp);
  return isEstimate ? op.getRhs() : Value();
}

namespace {
/// Gives math.fpowi an exponent of 32 bits: upstream declares libdevice's
/// function with whatever type the exponent has.
struct ConvertExponent : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getRhs().getType().isIntOrIndex() || !hasConvertibleExponent(op))
      return rewriter.notifyMatchFailure(op, "the exponent has to stay");
    Value exponent;
    if (std::optional<int64_t> constant = getSmallExponent(op))
      exponent = arith::ConstantIntOp::create(rewriter, op.getLoc(),
                                              rewriter.getI32Type(), *constant);
    else
      exponent = arith::ExtSIOp::create(rewriter, op.getLoc(),
                                        rewriter.getI32Type(), op.getRhs());
    rewriter.modifyOpInPlace(op, [&] { op.getRhsMutable().assign(exponent); });
    return success();
  }
};

/// Calls an intrinsic of LLVM for which PTX has an instruction. The operations
/// that upstream's patterns would use in its place are illegal in
/// convert-gpu-to-nvvm.
template <typename SourceOp> struct CallIntrinsic : OpRewritePattern<SourceOp> {
  CallIntrinsic(MLIRContext *context, StringRef intrinsic)
      : OpRewritePattern<SourceOp>(context), intrinsic(intrinsic) {}

  LogicalResult matchAndRewrite(SourceOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!isa<FloatType>(type))
      return rewriter.notifyMatchFailure(op, "not a scalar");
    std::string name;
    llvm::raw_string_ostream(name) << intrinsic << '.' << type;
    auto call = LLVM::CallIntrinsicOp::create(
        rewriter, op.getLoc(), type, rewriter.getStringAttr(name),
        op->getOperands(),
        LLVM::FastmathFlagsAttr::get(
            op.getContext(),
            arith::convertArithFastMathFlagsToLLVM(op.getFastmath())));
    rewriter.replaceOp(op, call);
    return success();
  }

  StringRef intrinsic;
};

/// Calls an intrinsic for an estimate, which takes numbers below 2^-126 for
/// zero.
template <typename SourceOp> struct CallEstimate : OpRewritePattern<SourceOp> {
  CallEstimate(MLIRContext *context, StringRef intrinsic)
      // The benefit precedes upstream's patterns for the same operations.
      : OpRewritePattern<SourceOp>(context, /*benefit=*/2),
        intrinsic(intrinsic) {}

  LogicalResult matchAndRewrite(SourceOp op,
                                PatternRewriter &rewriter) const override {
    Value operand = getEstimated(op);
    if (!operand)
      return rewriter.notifyMatchFailure(op, "has to be accurate");
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr(intrinsic), operand);
    return success();
  }

  StringRef intrinsic;
};

struct FadMathToPTXPass : fad::impl::FadMathToPTXBase<FadMathToPTXPass> {
  using FadMathToPTXBase::FadMathToPTXBase;

  void runOnOperation() override {
    if (failed(checkRoundings(getOperation())))
      return signalPassFailure();
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<
        arith::MaxNumFOp, arith::MinNumFOp, math::AbsFOp, math::AbsIOp,
        math::CeilOp, math::ClampFOp, math::CopySignOp,
        math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp,
        math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsNaNOp,
        math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::TruncOp>();
    target.addDynamicallyLegalOp<math::Exp2Op>(
        [](math::Exp2Op op) { return !getEstimated(op); });
    target.addDynamicallyLegalOp<arith::DivFOp>(
        [](arith::DivFOp op) { return !getEstimated(op); });
    target.addDynamicallyLegalOp<math::FPowIOp>(
        [](math::FPowIOp op) { return !hasConvertibleExponent(op); });

    LLVMTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    populateMathToLLVMConversionPatterns(converter, patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    math::populateExpansionPatterns(patterns, {"clampf"});
    patterns.add<ConvertExponent>(&getContext());
    patterns.add<CallEstimate<math::Exp2Op>>(&getContext(),
                                             "llvm.nvvm.ex2.approx.ftz.f32");
    patterns.add<CallEstimate<arith::DivFOp>>(&getContext(),
                                              "llvm.nvvm.rcp.approx.ftz.f");
    patterns.add<CallIntrinsic<math::AbsFOp>>(&getContext(), "llvm.fabs");
    patterns.add<CallIntrinsic<math::CeilOp>>(&getContext(), "llvm.ceil");
    patterns.add<CallIntrinsic<math::CopySignOp>>(&getContext(),
                                                  "llvm.copysign");
    patterns.add<CallIntrinsic<math::FloorOp>>(&getContext(), "llvm.floor");
    patterns.add<CallIntrinsic<math::RoundEvenOp>>(&getContext(),
                                                   "llvm.roundeven");
    patterns.add<CallIntrinsic<math::RoundOp>>(&getContext(), "llvm.round");
    patterns.add<CallIntrinsic<math::SqrtOp>>(&getContext(), "llvm.sqrt");
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
