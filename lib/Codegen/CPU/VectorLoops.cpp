//===- VectorLoops.cpp - Vector code for elementwise linalg ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorLoops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Vectorization conditions
//===----------------------------------------------------------------------===//

/// Whether the elements of `operand` along the innermost loop are contiguous in
/// memory or, for an input, one element.
static bool isContiguous(linalg::GenericOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return true;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isProjectedPermutation())
    return false;
  unsigned inner = op.getNumLoops() - 1;
  if (!map.isFunctionOfDim(inner))
    return op.isDpsInput(&operand);
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last && last.getPosition() == inner && type.isLastDimUnitStride();
}

/// Whether vectors have the elements of `operand` as a buffer has them: they
/// have eight i1 in a byte, and buffers have one.
static bool hasWholeBytes(OpOperand &operand) {
  Type type = getElementTypeOrSelf(operand.get());
  return !isa<MemRefType>(operand.get().getType()) ||
         (isa<FloatType, IntegerType>(type) &&
          type.getIntOrFloatBitWidth() >= 8);
}

/// Whether `op`, of a body, computes each element of a vector for itself.
static bool isVectorizable(Operation &op) {
  auto isScalar = [](Type type) { return isa<FloatType, IntegerType>(type); };
  if (isa<linalg::YieldOp>(op))
    return true;
  return (op.hasTrait<OpTrait::ConstantLike>() ||
          OpTrait::hasElementwiseMappableTraits(&op)) &&
         llvm::all_of(op.getOperandTypes(), isScalar) &&
         llvm::all_of(op.getResultTypes(), isScalar);
}

/// The bits of the widest type in which `op` computes.
static int64_t getWidestBits(linalg::GenericOp op) {
  int64_t bits = 8;
  auto count = [&](Type type) {
    bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  };
  llvm::for_each(op.getBody()->getArgumentTypes(), count);
  for (Operation &inner : *op.getBody())
    llvm::for_each(inner.getResultTypes(), count);
  return bits;
}

/// Whether `op` reads and writes only bf16, and computes in f32.
static bool isInBF16(linalg::GenericOp op) {
  return getWidestBits(op) == 32 &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           return getElementTypeOrSelf(type).isBF16();
         });
}

StringRef fad::explainElements(linalg::GenericOp op, int64_t vectorBits) {
  if (op.getNumLoops() == 0)
    return "it has no loop";
  if (op.getIteratorTypesArray().back() != utils::IteratorType::parallel)
    return "its innermost loop is a reduction";
  if (!llvm::all_of(op->getOpOperands(), hasWholeBytes))
    return "an operand has elements of less than a byte";
  if (!llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
        return isContiguous(op, operand);
      }))
    return "neighboring elements of an operand do not lie together";
  if (!llvm::all_of(op.getBody()->getArgumentTypes(),
                    llvm::IsaPred<FloatType, IntegerType>) ||
      !llvm::all_of(*op.getBody(), isVectorizable))
    return "its body has more than scalar arithmetic";
  int64_t lanes = vectorBits / getWidestBits(op);
  int64_t range = op.getStaticLoopRanges().back();
  if (lanes < 2 || (!ShapedType::isDynamic(range) && range < lanes))
    return "a vector has more elements than the innermost loop, or one";
  return "";
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The part of `operand` that `op` accesses in `size` iterations of the
/// innermost loop from `ivs` on, as a view of one dimension.
static Value slice(OpBuilder &b, linalg::GenericOp op, OpOperand &operand,
                   ArrayRef<OpFoldResult> ivs, OpFoldResult size) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return operand.get();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  OpFoldResult one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets, sizes, strides(map.getNumResults(), one);
  SmallVector<int64_t> shape;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    unsigned dim = map.getDimPosition(i);
    bool isInner = dim + 1 == op.getNumLoops();
    offsets.push_back(ivs[dim]);
    sizes.push_back(isInner ? size : one);
    if (isInner)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  }
  MemRefType reduced = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, op.getLoc(), reduced, operand.get(),
                                   offsets, sizes, strides);
}

/// `op` for `size` iterations of the innermost loop from `ivs` on.
static linalg::GenericOp createSlice(OpBuilder &b, linalg::GenericOp op,
                                     ArrayRef<OpFoldResult> ivs,
                                     OpFoldResult size) {
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    (op.isDpsInput(&operand) ? inputs : outputs)
        .push_back(slice(b, op, operand, ivs, size));
    bool hasInner = op.getMatchingIndexingMap(&operand).isFunctionOfDim(
        op.getNumLoops() - 1);
    maps.push_back(hasInner ? b.getMultiDimIdentityMap(1)
                            : AffineMap::get(1, 0, b.getContext()));
  }
  auto sliced =
      linalg::GenericOp::create(b, op.getLoc(), TypeRange(), inputs, outputs,
                                maps, ArrayRef(utils::IteratorType::parallel));
  IRMapping mapping;
  op.getRegion().cloneInto(&sliced.getRegion(), mapping);
  return sliced;
}

namespace {
/// A loop over vectors.
struct VectorLoop {
  int64_t lanes;
  OpFoldResult begin, end;
  /// Whether the even and the odd lanes are computed apart.
  bool splits;
};
} // namespace

/// Prefetch distance: two pages, because processors stop at the end of one.
/// Measurements showed loops with much arithmetic up to a third faster, and
/// others as fast as before.
static constexpr int64_t kPrefetchBytes = 8192;
/// Half the bytes that a cache fetches at once, on most processors: less is
/// fetched too often.
static constexpr int64_t kMinPrefetchBytes = 32;

/// Prefetches the inputs of later iterations of `op`, a single loop over
/// `lanes` elements at a time. Addresses behind the end are allowed: a prefetch
/// never fails.
static void prefetchInputs(OpBuilder &b, linalg::GenericOp op, Value iv,
                           int64_t lanes) {
  if (op.getNumLoops() != 1)
    return;
  int64_t range = op.getStaticLoopRanges().front();
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    if (!type || !op.getMatchingIndexingMap(input).isIdentity())
      continue;
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    int64_t ahead = kPrefetchBytes / bytes;
    bool isSmall = !ShapedType::isDynamic(range) && range <= ahead;
    if (isSmall || lanes * bytes < kMinPrefetchBytes)
      continue;
    Location loc = op.getLoc();
    Value offset = arith::ConstantIndexOp::create(b, loc, ahead);
    Value index = arith::AddIOp::create(b, loc, iv, offset);
    memref::PrefetchOp::create(b, loc, input->get(), index, /*isWrite=*/false,
                               /*localityHint=*/3, /*isDataCache=*/true);
  }
}

/// Keeps LLVM from unrolling `loop`, of which copies would take as long to
/// compile as all the rest; `exceptConstant`, from unrolling it where its steps
/// are counted at run time.
static void keepRolled(scf::ForOp loop, bool exceptConstant = false) {
  MLIRContext *context = loop.getContext();
  auto yes = BoolAttr::get(context, true);
  auto unroll =
      exceptConstant
          ? LLVM::LoopUnrollAttr::get(context, {}, {}, /*runtimeDisable=*/yes,
                                      {}, {}, {}, {})
          : LLVM::LoopUnrollAttr::get(context, /*disable=*/yes, {}, {}, {}, {},
                                      {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
  // Upstream's conversions take attributes of LLVM's dialect from the loop to
  // its branch, whose own this is by its name there.
  OperationName branch(LLVM::BrOp::getOperationName(), context);
  loop->setDiscardableAttr(LLVM::BrOp::getLoopAnnotationAttrName(branch),
                           annotation);
}

/// More operations than these, with the terminator, hide what counting and
/// branching take.
static constexpr size_t kMaxUnrolledOps = 4;

/// `op` for the vectors of `vectors`, which are stored past the cache if
/// `streams`.
static void emitVectors(RewriterBase &rewriter, linalg::GenericOp op,
                        SmallVector<OpFoldResult> ivs,
                        const VectorLoop &vectors, bool streams) {
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  Value low = getValueOrCreateConstantIndexOp(rewriter, loc, vectors.begin);
  Value high = getValueOrCreateConstantIndexOp(rewriter, loc, vectors.end);
  Value step = arith::ConstantIndexOp::create(rewriter, loc, vectors.lanes);
  auto loop = scf::ForOp::create(rewriter, loc, low, high, step);
  keepRolled(loop, /*exceptConstant=*/op.getBody()->getOperations().size() <=
                       kMaxUnrolledOps);
  if (streams)
    createStreamFence(rewriter, loc);
  rewriter.setInsertionPointToStart(loop.getBody());
  prefetchInputs(rewriter, op, loop.getInductionVar(), vectors.lanes);
  ivs.push_back(loop.getInductionVar());
  linalg::GenericOp slice =
      createSlice(rewriter, op, ivs, rewriter.getIndexAttr(vectors.lanes));
  bool isVector = succeeded(linalg::vectorize(rewriter, slice));
  if (!isVector)
    (void)linalg::linalgOpToLoops(rewriter, slice);
  rewriter.eraseOp(slice);
  if (isVector && vectors.splits)
    splitLanes(rewriter, *loop.getBody(), vectors.lanes);
  if (isVector && streams)
    streamStores(rewriter, *loop.getBody());
}

/// The same, where `streams`, an i1 or null, selects non-temporal stores at run
/// time.
static void emitVectors(RewriterBase &rewriter, linalg::GenericOp op,
                        ArrayRef<OpFoldResult> ivs, const VectorLoop &vectors,
                        Value streams) {
  if (isEqualConstantIntOrValue(vectors.begin, vectors.end))
    return;
  SmallVector<OpFoldResult> outer(ivs);
  if (!streams)
    return emitVectors(rewriter, op, outer, vectors, /*streams=*/false);
  OpBuilder::InsertionGuard guard(rewriter);
  auto choice = scf::IfOp::create(rewriter, op.getLoc(), streams,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(choice.thenBlock());
  emitVectors(rewriter, op, outer, vectors, /*streams=*/true);
  rewriter.setInsertionPointToStart(choice.elseBlock());
  emitVectors(rewriter, op, outer, vectors, /*streams=*/false);
}

/// The greatest multiple of `lanes` up to `size`.
static OpFoldResult roundDown(OpBuilder &b, Location loc, OpFoldResult size,
                              int64_t lanes) {
  AffineExpr all = b.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(
      b, loc, all.floorDiv(lanes) * lanes, {size});
}

InnerLoop fad::emitOuterLoops(RewriterBase &rewriter, linalg::GenericOp op) {
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(*op).createLoopRanges(rewriter, loc);
  InnerLoop inner;
  inner.size = ranges.back().size;
  for (Range outer : ArrayRef(ranges).drop_back()) {
    Value size = getValueOrCreateConstantIndexOp(rewriter, loc, outer.size);
    auto loop = scf::ForOp::create(rewriter, loc, zero, size, one);
    keepRolled(loop);
    rewriter.setInsertionPointToStart(loop.getBody());
    inner.outerIVs.push_back(loop.getInductionVar());
  }
  return inner;
}

/// Emits a loop over the remainder of the elements after vectors of `lanes`.
static void emitRest(RewriterBase &rewriter, linalg::GenericOp op,
                     const InnerLoop &loop, int64_t lanes) {
  AffineExpr all = rewriter.getAffineSymbolExpr(0);
  OpFoldResult left = affine::makeComposedFoldedAffineApply(
      rewriter, op.getLoc(), all % lanes, {loop.size});
  if (isConstantIntValue(left, 0))
    return;
  SmallVector<OpFoldResult> ivs(loop.outerIVs);
  ivs.push_back(roundDown(rewriter, op.getLoc(), loop.size, lanes));
  linalg::GenericOp scalars = createSlice(rewriter, op, ivs, left);
  FailureOr<linalg::LinalgLoops> loops =
      linalg::linalgOpToLoops(rewriter, scalars);
  if (succeeded(loops) && !loops->empty())
    if (auto innermost = dyn_cast<scf::ForOp>(loops->back()))
      keepRolled(innermost);
  rewriter.eraseOp(scalars);
}

LogicalResult fad::emitVectorLoops(RewriterBase &rewriter, linalg::GenericOp op,
                                   int64_t vectorBits, Value streams) {
  if (!explainElements(op, vectorBits).empty())
    return failure();
  int64_t lanes = vectorBits / getWidestBits(op);

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  InnerLoop loop = emitOuterLoops(rewriter, op);
  OpFoldResult begin = rewriter.getIndexAttr(0);
  if (isInBF16(op)) {
    // Numbers of bf16 are loaded and stored in full vectors, the even ones and
    // the odd ones of which are two vectors of f32 without moving any.
    OpFoldResult end = roundDown(rewriter, op.getLoc(), loop.size, 2 * lanes);
    emitVectors(rewriter, op, loop.outerIVs,
                {2 * lanes, begin, end, /*splits=*/true}, streams);
    begin = end;
    // At most one vector is left.
    streams = {};
  }
  OpFoldResult end = roundDown(rewriter, op.getLoc(), loop.size, lanes);
  emitVectors(rewriter, op, loop.outerIVs,
              {lanes, begin, end, /*splits=*/false}, streams);
  emitRest(rewriter, op, loop, lanes);
  rewriter.eraseOp(op);
  return success();
}

void fad::populateVectorLoopPatterns(RewritePatternSet &patterns) {
  vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
  vector::populateVectorTransferLoweringPatterns(patterns);
}
