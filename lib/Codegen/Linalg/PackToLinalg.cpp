//===- PackToLinalg.cpp - Lowering of fad.pack and fad.unpack -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Utils.h"
#include "Lowerings.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::fad;

static Value createInteger(ImplicitLocOpBuilder &b, int64_t value,
                           unsigned width = 8) {
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(b.getIntegerType(width), APInt(width, value)));
}

/// The lowest `bits` bits of `code`, a byte.
static Value mask(ImplicitLocOpBuilder &b, Value code, int64_t bits) {
  if (bits == 8)
    return code;
  return arith::AndIOp::create(b, code, createInteger(b, (1 << bits) - 1));
}

/// `expr`, an affine function of `size` as symbol 0.
static OpFoldResult apply(ImplicitLocOpBuilder &b, AffineExpr expr,
                          OpFoldResult size) {
  return affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), AffineMap::get(0, 1, expr), {size});
}

namespace {
/// Replaces fad.pack by a reduction over the numbers that share a word: a byte
/// if whole numbers fill bytes, else the bits of eight numbers, which are split
/// into bytes.
struct PackToReduction : OpRewritePattern<PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PackOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t bits = op.getBits();
    Value flat = flatten(b, op.getCodes());
    Value bytes;
    if (8 % bits == 0) {
      bytes = combine(b, group(b, flat, 8 / bits), bits, b.getI8Type());
    } else {
      OpFoldResult count = tensor::getMixedSize(b, b.getLoc(), flat, 0);
      Value words = combine(b, group(b, flat, 8), bits, b.getI64Type());
      OpFoldResult size =
          apply(b, (b.getAffineSymbolExpr(0) * bits).ceilDiv(8), count);
      bytes = cut(b, words, bits, size);
    }
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(), bytes);
    return success();
  }

  /// The words of `type` that hold the numbers in the rows of `groups`.
  static Value combine(ImplicitLocOpBuilder &b, Value groups, int64_t bits,
                       Type type) {
    Value empty = tensor::EmptyOp::create(
        b, {tensor::getMixedSize(b, b.getLoc(), groups, 0)}, type);
    Value zero = createInteger(b, 0, type.getIntOrFloatBitWidth());
    Value zeros = linalg::FillOp::create(b, zero, empty).getResult(0);
    AffineMap all = b.getMultiDimIdentityMap(2);
    return createGeneric(
        b, groups, zeros, {all, all.getMajorSubMap(1)}, /*reductions=*/1,
        [&](ImplicitLocOpBuilder &inner, ValueRange arguments) {
          return addToWord(inner, arguments[0], arguments[1], bits);
        });
  }

  /// The first `size` bytes of `words`, each of which has `numBytes`.
  static Value cut(ImplicitLocOpBuilder &b, Value words, int64_t numBytes,
                   OpFoldResult size) {
    Value empty =
        tensor::EmptyOp::create(b,
                                {tensor::getMixedSize(b, b.getLoc(), words, 0),
                                 b.getIndexAttr(numBytes)},
                                b.getI8Type());
    AffineMap all = b.getMultiDimIdentityMap(2);
    Value bytes = createGeneric(
        b, words, empty, {all.getMajorSubMap(1), all}, /*reductions=*/0,
        [](ImplicitLocOpBuilder &inner, ValueRange arguments) -> Value {
          Value position = arith::IndexCastOp::create(
              inner, inner.getI64Type(), linalg::IndexOp::create(inner, 1));
          Value shift = arith::MulIOp::create(inner, position,
                                              createInteger(inner, 8, 64));
          Value shifted = arith::ShRUIOp::create(inner, arguments[0], shift);
          return arith::TruncIOp::create(inner, inner.getI8Type(), shifted);
        });
    Value flat = flatten(b, bytes);
    // Upstream's verifier takes no part of an empty tensor.
    if (isEqualConstantIntOrValue(size,
                                  tensor::getMixedSize(b, b.getLoc(), flat, 0)))
      return flat;
    return tensor::ExtractSliceOp::create(b, flat, {b.getIndexAttr(0)}, {size},
                                          {b.getIndexAttr(1)});
  }

  /// The elements of `codes` in row-major order.
  static Value flatten(ImplicitLocOpBuilder &b, Value codes) {
    return collapseFirst(b, codes,
                         cast<RankedTensorType>(codes.getType()).getRank());
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
          OpFoldResult(b.getIndexAttr(0)), missing, createInteger(b, 0));
    }
    SmallVector<OpFoldResult> sizes = {rows, b.getIndexAttr(size)};
    auto type = RankedTensorType::get(
        {getConstantIntValue(rows).value_or(ShapedType::kDynamic), size},
        b.getI8Type());
    SmallVector<ReassociationIndices> both = {{0, 1}};
    return tensor::ExpandShapeOp::create(b, b.getLoc(), type, flat, both,
                                         sizes);
  }

  /// `word` with the number `code` of this iteration in its place.
  static Value addToWord(ImplicitLocOpBuilder &b, Value code, Value word,
                         int64_t bits) {
    Type type = word.getType();
    unsigned width = type.getIntOrFloatBitWidth();
    code = mask(b, code, bits);
    if (width > 8)
      code = arith::ExtUIOp::create(b, type, code);
    Value position =
        arith::IndexCastOp::create(b, type, linalg::IndexOp::create(b, 1));
    Value shift =
        arith::MulIOp::create(b, position, createInteger(b, bits, width));
    return arith::OrIOp::create(b, word, arith::ShLIOp::create(b, code, shift));
  }
};

/// Replaces fad.unpack by an elementwise operation that reads its byte, so that
/// it fuses with its readers.
struct UnpackToGeneric : OpRewritePattern<UnpackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnpackOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getType();
    Value empty = tensor::EmptyOp::create(b, type, op.getSizes());
    SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(
        b, b.getLoc(), getMixedValues(type.getShape(), op.getSizes(), b));
    Value codes = createGeneric(
        b, {}, empty, b.getMultiDimIdentityMap(type.getRank()),
        /*reductions=*/0, [&](ImplicitLocOpBuilder &inner, ValueRange) {
          return readNumber(inner, op, sizes);
        });
    codes.getDefiningOp()->setDiscardableAttrs(
        op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, codes);
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
    return 8 % op.getBits() == 0 ? readWithin(b, op, number)
                                 : readAcross(b, op, number);
  }

  /// The number `number` if each is in one byte.
  static Value readWithin(ImplicitLocOpBuilder &b, UnpackOp op, Value number) {
    int64_t bits = op.getBits();
    Value group = arith::ConstantIndexOp::create(b, 8 / bits);
    Value row = arith::DivUIOp::create(b, number, group);
    Value position = arith::IndexCastOp::create(
        b, b.getI8Type(), arith::RemUIOp::create(b, number, group));
    Value byte = tensor::ExtractOp::create(b, op.getBytes(), row);
    Value shift = arith::MulIOp::create(b, position, createInteger(b, bits));
    return mask(b, arith::ShRUIOp::create(b, byte, shift), bits);
  }

  /// The number `number` if it may cross the end of a byte.
  static Value readAcross(ImplicitLocOpBuilder &b, UnpackOp op, Value number) {
    int64_t bits = op.getBits();
    Value eight = arith::ConstantIndexOp::create(b, 8);
    Value begin = arith::MulIOp::create(
        b, number, arith::ConstantIndexOp::create(b, bits));
    Value first = arith::DivUIOp::create(b, begin, eight);
    // No number crosses the end of the last byte.
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value last = arith::SubIOp::create(
        b, tensor::DimOp::create(b, op.getBytes(), 0), one);
    Value second =
        arith::MinUIOp::create(b, arith::AddIOp::create(b, first, one), last);
    auto read = [&](Value position) {
      return arith::ExtUIOp::create(
          b, b.getI16Type(),
          tensor::ExtractOp::create(b, op.getBytes(), position));
    };
    Value low = read(first);
    Value high =
        arith::ShLIOp::create(b, read(second), createInteger(b, 8, 16));
    Value shift = arith::IndexCastOp::create(
        b, b.getI16Type(), arith::RemUIOp::create(b, begin, eight));
    Value shifted =
        arith::ShRUIOp::create(b, arith::OrIOp::create(b, low, high), shift);
    return mask(b, arith::TruncIOp::create(b, b.getI8Type(), shifted), bits);
  }
};
} // namespace

void fad::populatePackPatterns(RewritePatternSet &patterns) {
  patterns.add<PackToReduction, UnpackToGeneric>(patterns.getContext());
}
