//===- NamedConvolution.cpp - Names for convolutions ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgAdjoint.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::linalg;

template <typename OpTy>
using StridesOf = decltype(std::declval<OpTy &>().getStrides());

/// `op` as an `OpTy`, or null.
template <typename OpTy>
static LinalgOp nameAs(RewriterBase &rewriter, GenericOp op) {
  SmallVector<int64_t> dilations, strides;
  if (!isaConvolutionOpOfType<OpTy>(op, &dilations, &strides))
    return {};
  SmallVector<NamedAttribute> attributes;
  if constexpr (llvm::is_detected<StridesOf, OpTy>::value)
    attributes = {
        rewriter.getNamedAttr("strides", rewriter.getI64TensorAttr(strides)),
        rewriter.getNamedAttr("dilations",
                              rewriter.getI64TensorAttr(dilations))};
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  auto named = OpTy::create(rewriter, op.getLoc(), op.getResultTypes(),
                            op.getInputs(), op.getOutputs(), attributes);
  rewriter.replaceOp(op, named);
  return named;
}

/// `op` as the first of `OpTys` that matches, or null.
template <typename... OpTys>
static LinalgOp nameAsOneOf(RewriterBase &rewriter, GenericOp op) {
  LinalgOp named;
  (void)((named = nameAs<OpTys>(rewriter, op)) || ...);
  return named;
}

/// Orders the loops of `op` as in `order`; false if that lacks one.
static bool orderLoops(RewriterBase &rewriter, GenericOp op,
                       ArrayRef<unsigned> order) {
  return order.size() == op.getNumLoops() &&
         succeeded(interchangeGenericOp(rewriter, op, order));
}

/// The loops of the result in its order, then the others in the order of the
/// filter, as most named convolutions number their loops.
static SmallVector<unsigned> getResultOrder(GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  llvm::SetVector<unsigned> order;
  for (AffineMap map : {maps[2], maps[1]})
    for (AffineExpr expr : map.getResults())
      order.insert(cast<AffineDimExpr>(expr).getPosition());
  return SmallVector<unsigned>(order.takeVector());
}

/// Names a depthwise convolution; some of these have their own numbering. `op`
/// has its loops in the order of the result.
static LinalgOp nameDepthwise(RewriterBase &rewriter, GenericOp op) {
  FailureOr<ConvolutionDimensions> dims = inferConvolutionDims(op);
  if (failed(dims) || dims->depth.empty())
    return {};
  auto concatenate = [](ArrayRef<ArrayRef<unsigned>> groups) {
    SmallVector<unsigned> order;
    for (ArrayRef<unsigned> group : groups)
      llvm::append_range(order, group);
    return order;
  };
  SmallVector<unsigned> channelInside = concatenate(
      {dims->batch, dims->outputImage, dims->depth, dims->filterLoop});
  SmallVector<unsigned> channelLast =
      concatenate({dims->batch, dims->outputImage, dims->outputChannel,
                   dims->filterLoop, dims->depth});
  if (dims->outputImage.size() < 3)
    return orderLoops(rewriter, op, channelInside)
               ? nameAsOneOf<DepthwiseConv1DNcwCwOp, DepthwiseConv2DNchwChwOp>(
                     rewriter, op)
               : LinalgOp();
  return orderLoops(rewriter, op, channelLast)
             ? nameAsOneOf<DepthwiseConv3DNcdhwCdhwOp,
                           DepthwiseConv3DNdhwcDhwcOp,
                           DepthwiseConv3DNdhwcDhwcmOp>(rewriter, op)
             : LinalgOp();
}

LinalgOp fad::nameConvolution(RewriterBase &rewriter, GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !isaConvolutionOpInterface(op) ||
      !orderLoops(rewriter, op, getResultOrder(op)))
    return {};
  LinalgOp named = nameAsOneOf<
      Conv1DOp, Conv1DNcwFcwOp, Conv1DNwcWcfOp, Conv2DOp, Conv2DNchwFchwOp,
      Conv2DNgchwFgchwOp, Conv2DNgchwGfchwOp, Conv2DNhwcFhwcOp,
      Conv2DNhwcHwcfOp, Conv2DNhwgcGfhwcOp, Conv3DOp, Conv3DNcdhwFcdhwOp,
      Conv3DNdhwcDhwcfOp, DepthwiseConv1DNwcWcOp, DepthwiseConv1DNwcWcmOp,
      DepthwiseConv2DNhwcHwcOp, DepthwiseConv2DNhwcHwcmOp, PoolingNcwSumOp,
      PoolingNwcSumOp, PoolingNchwSumOp, PoolingNhwcSumOp, PoolingNdhwcSumOp>(
      rewriter, op);
  return named ? named : nameDepthwise(rewriter, op);
}
