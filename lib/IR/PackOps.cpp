//===- PackOps.cpp - fad.pack and fad.unpack ------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fad;

/// Verifies the common constraints of both operations.
static LogicalResult verifyPacking(Operation *op, int64_t bits,
                                   RankedTensorType codes,
                                   RankedTensorType bytes) {
  if (bits < 1 || bits > 8)
    return op->emitOpError("expects 1 to 8 bits, but got ") << bits;
  if (!codes.hasStaticShape() || !bytes.hasStaticShape())
    return success();
  int64_t expected = llvm::divideCeil(codes.getNumElements() * bits, 8);
  if (bytes.getNumElements() != expected)
    return op->emitOpError("expects ")
           << expected << " bytes for " << codes.getNumElements()
           << " numbers of " << bits << (bits == 1 ? " bit" : " bits")
           << ", but got " << bytes.getNumElements();
  return success();
}

LogicalResult PackOp::verify() {
  return verifyPacking(*this, getBits(), getCodes().getType(),
                       getBytes().getType());
}

LogicalResult PackOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &reified) {
  // ceil(product of the sizes * bits / 8)
  AffineExpr count = builder.getAffineConstantExpr(getBits());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getCodes());
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    count = count * builder.getAffineSymbolExpr(dim);
  OpFoldResult bytes = affine::makeComposedFoldedAffineApply(
      builder, getLoc(), AffineMap::get(0, sizes.size(), count.ceilDiv(8)),
      sizes);
  reified.push_back({bytes});
  return success();
}

LogicalResult UnpackOp::verify() {
  RankedTensorType codes = getCodes().getType();
  if (int64_t dynamic = codes.getNumDynamicDims();
      dynamic != static_cast<int64_t>(getSizes().size()))
    return emitOpError("expects one size for each of the ")
           << dynamic << " dynamic dimensions of " << codes << ", but got "
           << getSizes().size();
  return verifyPacking(*this, getBits(), codes, getBytes().getType());
}

LogicalResult
UnpackOp::reifyResultShapes(OpBuilder &builder,
                            ReifiedRankedShapedTypeDims &reified) {
  reified.push_back(
      getMixedValues(getCodes().getType().getShape(), getSizes(), builder));
  return success();
}
