//===- PackToLinalg.cpp - Lowering of fad.pack and fad.unpack -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConversionUtils.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::fad;

static Value createByte(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 8);
}

/// `expr`, an affine function of `size` as symbol 0.
static OpFoldResult apply(ImplicitLocOpBuilder &b, AffineExpr expr,
                          OpFoldResult size) {
  return affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), AffineMap::get(0, 1, expr), {size});
}

namespace {
/// Replaces fad.pack by a reduction over the numbers that share a byte.
struct PackToReduction : OpRewritePattern<PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PackOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value groups = group(b, flatten(b, op.getCodes()), 8 / op.getBits());
    Value empty = tensor::EmptyOp::create(
        b, {tensor::getMixedSize(b, b.getLoc(), groups, 0)}, b.getI8Type());
    Value zeros =
        linalg::FillOp::create(b, createByte(b, 0), empty).getResult(0);
    AffineMap all = b.getMultiDimIdentityMap(2);
    auto generic = linalg::GenericOp::create(
        b, zeros.getType(), groups, zeros, {all, all.getMajorSubMap(1)},
        {utils::IteratorType::parallel, utils::IteratorType::reduction},
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          ImplicitLocOpBuilder inner(loc, builder);
          linalg::YieldOp::create(inner, addToByte(inner, arguments[0],
                                                   arguments[1], op.getBits()));
        });
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(),
                                                generic.getResult(0));
    return success();
  }

  /// The elements of `codes` in row-major order.
  static Value flatten(ImplicitLocOpBuilder &b, Value codes) {
    auto type = cast<RankedTensorType>(codes.getType());
    if (type.getRank() == 0)
      return tensor::ExpandShapeOp::create(b, type.clone({1}), codes,
                                           ArrayRef<ReassociationIndices>());
    if (type.getRank() == 1)
      return codes;
    return tensor::CollapseShapeOp::create(
        b, codes,
        ArrayRef<ReassociationIndices>{
            llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))});
  }

  /// The elements of `flat` in rows of `size`, filled up with zeros.
  static Value group(ImplicitLocOpBuilder &b, Value flat, int64_t size) {
    OpFoldResult count = tensor::getMixedSize(b, b.getLoc(), flat, 0);
    AffineExpr n = b.getAffineSymbolExpr(0);
    OpFoldResult rows = apply(b, n.ceilDiv(size), count);
    OpFoldResult missing = apply(b, n.ceilDiv(size) * size - n, count);
    if (!isZeroInteger(missing)) {
      int64_t padded = ShapedType::kDynamic;
      if (std::optional<int64_t> number = getConstantIntValue(rows))
        padded = *number * size;
      flat = tensor::PadOp::create(
          b, RankedTensorType::get(padded, b.getI8Type()), flat,
          OpFoldResult(b.getIndexAttr(0)), missing, createByte(b, 0));
    }
    SmallVector<OpFoldResult> sizes = {rows, b.getIndexAttr(size)};
    auto type = RankedTensorType::get(
        {getConstantIntValue(rows).value_or(ShapedType::kDynamic), size},
        b.getI8Type());
    SmallVector<ReassociationIndices> both = {{0, 1}};
    return tensor::ExpandShapeOp::create(b, b.getLoc(), type, flat, both,
                                         sizes);
  }

  /// `byte` with the number `code` of this iteration in its place.
  static Value addToByte(ImplicitLocOpBuilder &b, Value code, Value byte,
                         int64_t bits) {
    code = arith::AndIOp::create(b, code, createByte(b, (1 << bits) - 1));
    Value position = arith::IndexCastOp::create(b, b.getI8Type(),
                                                linalg::IndexOp::create(b, 1));
    Value shift = arith::MulIOp::create(b, position, createByte(b, bits));
    return arith::OrIOp::create(b, byte, arith::ShLIOp::create(b, code, shift));
  }
};

/// Replaces fad.unpack by an elementwise operation that reads its byte, so that
/// it fuses with what reads the numbers.
struct UnpackToGeneric : OpRewritePattern<UnpackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnpackOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getType();
    Value empty = tensor::EmptyOp::create(b, type, op.getSizes());
    SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(
        b, b.getLoc(), getMixedValues(type.getShape(), op.getSizes(), b));
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, ValueRange(), empty, b.getMultiDimIdentityMap(type.getRank()),
        iterators, [&](OpBuilder &builder, Location loc, ValueRange) {
          ImplicitLocOpBuilder inner(loc, builder);
          linalg::YieldOp::create(inner, readNumber(inner, op, sizes));
        });
    return success();
  }

  /// In the body, the number that belongs to the iteration.
  static Value readNumber(ImplicitLocOpBuilder &b, UnpackOp op,
                          ValueRange sizes) {
    Value number = arith::ConstantIndexOp::create(b, 0);
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      number = arith::MulIOp::create(b, number, size);
      number =
          arith::AddIOp::create(b, number, linalg::IndexOp::create(b, dim));
    }
    int64_t bits = op.getBits();
    Value group = arith::ConstantIndexOp::create(b, 8 / bits);
    Value row = arith::DivUIOp::create(b, number, group);
    Value position = arith::IndexCastOp::create(
        b, b.getI8Type(), arith::RemUIOp::create(b, number, group));
    Value byte = tensor::ExtractOp::create(b, op.getBytes(), row);
    Value shift = arith::MulIOp::create(b, position, createByte(b, bits));
    return arith::AndIOp::create(b, arith::ShRUIOp::create(b, byte, shift),
                                 createByte(b, (1 << bits) - 1));
  }
};
} // namespace

void fad::populatePackPatterns(RewritePatternSet &patterns) {
  patterns.add<PackToReduction, UnpackToGeneric>(patterns.getContext());
}
