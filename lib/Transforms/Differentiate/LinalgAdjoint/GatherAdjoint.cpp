//===- GatherAdjoint.cpp - Adjoints of reads at computed indices ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The body of a structured operation may read elements of any tensor with
// `tensor.extract`: an embedding reads row `ids[i]` of a table, a loss column
// `label[i]` of row `i`. Each iteration contributes a term to the cotangent of
// the tensor, at the place that it reads. Three cases differ in the computation
// of this cotangent:
//
// - Each index is an affine function of the loops. The cotangent is that of an
//   operand that is read through this map.
// - Each loop is an index of its own (a loss: of the row). No two iterations
//   read the same element, so each element has one term or none, depending on
//   whether the computed index is its position.
// - Otherwise the number of terms of an element depends on the values of the
//   indices: `fad.scatter_add`.
//
//===----------------------------------------------------------------------===//

#include "LinalgAdjoint.h"
#include "LinalgIndexing.h"
#include "fad/Analysis/SizeOrigins.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Interfaces/Slices.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

//===----------------------------------------------------------------------===//
// Index analysis
//===----------------------------------------------------------------------===//

/// Whether `loop` has one iteration, so that no index depends on it.
static bool isUnitLoop(LinalgOp op, unsigned loop) {
  return op.getStaticLoopRanges()[loop] == 1;
}

/// The loops of `op` that `value`, in its body, depends on.
static llvm::SmallBitVector findLoops(LinalgOp op, Value value) {
  llvm::SmallBitVector loops(op.getNumLoops());
  forEachSource(op.getBlock(), value, [&](Value source) {
    if (auto index = source.getDefiningOp<IndexOp>())
      loops.set(index.getDim());
    auto argument = dyn_cast<BlockArgument>(source);
    if (!argument || argument.getOwner() != op.getBlock())
      return;
    AffineMap map = op.getIndexingMapsArray()[argument.getArgNumber()];
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (map.isFunctionOfDim(loop))
        loops.set(loop);
  });
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (isUnitLoop(op, loop))
      loops.reset(loop);
  return loops;
}

/// Whether `expr` cannot be negative: a sum of products of loops.
static bool isNonNegative(AffineExpr expr) {
  return !expr.walk([](AffineExpr nested) {
                auto constant = dyn_cast<AffineConstantExpr>(nested);
                return constant && constant.getValue() < 0
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

/// `lhs` and `rhs` combined by `op`; null if the result is not affine.
static AffineExpr combine(Operation *op, AffineExpr lhs, AffineExpr rhs) {
  if (isa<arith::AddIOp>(op))
    return lhs + rhs;
  if (isa<arith::SubIOp>(op))
    return lhs - rhs;
  if (isa<arith::MulIOp>(op)) {
    bool isLinear = lhs.isSymbolicOrConstant() || rhs.isSymbolicOrConstant();
    return isLinear ? lhs * rhs : AffineExpr();
  }
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  if (!divisor || divisor.getValue() <= 0)
    return {};
  if (isa<arith::FloorDivSIOp>(op))
    return lhs.floorDiv(rhs);
  // These round to zero.
  if (!isNonNegative(lhs))
    return {};
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return lhs.floorDiv(rhs);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return lhs % rhs;
  return {};
}

/// `value` as a function of the loops of the structured operation whose body
/// contains it; null if it is not affine.
static AffineExpr getAffineIndex(Value value) {
  MLIRContext *context = value.getContext();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), context);
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto index = dyn_cast<IndexOp>(op)) {
    auto structured = cast<LinalgOp>(index->getParentOp());
    return isUnitLoop(structured, index.getDim())
               ? getAffineConstantExpr(0, context)
               : getAffineDimExpr(index.getDim(), context);
  }
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    // Narrower integers could wrap around.
    Type type = cast.getType();
    bool isWide = type.isIndex() || type.getIntOrFloatBitWidth() >= 32;
    return isWide ? getAffineIndex(cast.getIn()) : AffineExpr();
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<AffineExpr> operands;
    for (Value operand : apply.getMapOperands())
      if (AffineExpr expr = getAffineIndex(operand))
        operands.push_back(expr);
    if (operands.size() != apply.getMapOperands().size())
      return {};
    unsigned dims = apply.getMap().getNumDims();
    return apply.getMap().getResult(0).replaceDimsAndSymbols(
        ArrayRef(operands).take_front(dims),
        ArrayRef(operands).drop_front(dims));
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::FloorDivSIOp,
           arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return {};
  AffineExpr lhs = getAffineIndex(op->getOperand(0));
  AffineExpr rhs = getAffineIndex(op->getOperand(1));
  return lhs && rhs ? combine(op, lhs, rhs) : AffineExpr();
}

//===----------------------------------------------------------------------===//
// The adjoint of one read
//===----------------------------------------------------------------------===//

namespace {
class GatherAdjoint {
public:
  GatherAdjoint(RewriterBase &builder, const StructuredPrimal &primal,
                tensor::ExtractOp gather)
      : builder(builder), primal(primal), op(primal.op), gather(gather),
        loc(gather.getLoc()), source(gather.getTensor()),
        type(cast<RankedTensorType>(source.getType())) {}

  FailureOr<Value> run();

private:
  /// Finds the loops that are indices, and the part of the tensor that they can
  /// read.
  void analyze();
  /// Reports an index that leaves the tensor in some iteration. `indices` are
  /// functions of the loops, or null.
  LogicalResult checkBounds(ArrayRef<AffineExpr> indices);
  /// Whether the index of dimension `dim` is a loop that is no index of an
  /// earlier dimension.
  bool isOwnLoop(unsigned dim) const { return loops[dim].has_value(); }
  Value createEmpty(ArrayRef<OpFoldResult> sizes, Type elementType) {
    return tensor::EmptyOp::create(builder, loc, sizes, elementType);
  }
  /// `body` with `loop` numbered `numbers[loop]`, out of `count`. Loops without
  /// a number have one iteration, or do not occur in the body. Updates `kept`,
  /// values of the body.
  void renumber(ScalarBody &body, ArrayRef<std::optional<unsigned>> numbers,
                unsigned count, MutableArrayRef<Value> kept);
  /// An operation without reductions whose body yields `values`.
  SmallVector<Value> emitParallel(ScalarBody body, ValueRange values,
                                  ArrayRef<OpFoldResult> extents);
  Value emitSelection(ScalarBody body, MutableArrayRef<Value> indices);
  /// The loops that determine the places of terms.
  llvm::SmallBitVector findBatch();
  /// The indices of dimensions `dims`, one tensor over the loops in `batch`
  /// each.
  SmallVector<Value> emitIndices(ArrayRef<int64_t> dims,
                                 ArrayRef<unsigned> batch);
  /// The operand of `op` that is the index of dimension `dim` without changes,
  /// or null.
  Value findIndexOperand(unsigned dim, ArrayRef<unsigned> batch);
  Value emitScatter(ScalarBody body);
  /// Extends `cotangent`, of the readable part, to the tensor.
  Value restore(Value cotangent);

  RewriterBase &builder;
  const StructuredPrimal &primal;
  LinalgOp op;
  tensor::ExtractOp gather;
  Location loc;
  Value source;
  RankedTensorType type;
  /// For each dimension, the loop that is its only index.
  SmallVector<std::optional<unsigned>> loops;
  /// Those loops, and those with one iteration.
  llvm::SmallBitVector ownLoops;
  /// The extent of each dimension that its loop reaches; all of the others.
  SmallVector<OpFoldResult> sizes;
  bool readsWhole = true;
};
} // namespace

void GatherAdjoint::analyze() {
  ownLoops.resize(op.getNumLoops());
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    ownLoops[loop] = isUnitLoop(op, loop);
  sizes = tensor::getMixedSizes(builder, loc, source);
  for (auto [dim, index] : llvm::enumerate(gather.getIndices())) {
    loops.emplace_back();
    auto loop = dyn_cast_if_present<AffineDimExpr>(getAffineIndex(index));
    if (!loop)
      continue;
    if (!ownLoops.test(loop.getPosition())) {
      ownLoops.set(loop.getPosition());
      loops.back() = loop.getPosition();
    }
    OpFoldResult extent = getLoopExtent(builder, op, loop.getPosition());
    if (areEqual(asSize(sizes[dim]), asSize(extent)))
      continue;
    sizes[dim] = extent;
    readsWhole = false;
  }
}

LogicalResult GatherAdjoint::checkBounds(ArrayRef<AffineExpr> indices) {
  SmallVector<std::optional<int64_t>> least(op.getNumLoops(), 0), greatest;
  for (int64_t extent : op.getStaticLoopRanges()) {
    if (extent == 0)
      return success();
    greatest.push_back(ShapedType::isDynamic(extent)
                           ? std::nullopt
                           : std::optional(extent - 1));
  }
  for (auto [dim, index] : llvm::enumerate(indices)) {
    // The greatest remainder need not be reached.
    if (!index || index.getKind() == AffineExprKind::Mod)
      continue;
    auto findBound = [&, index = index](bool isUpper) {
      return getBoundForAffineExpr(index, op.getNumLoops(), 0, least, greatest,
                                   isUpper);
    };
    std::optional<int64_t> low = findBound(false), high = findBound(true);
    bool isPast =
        high && !type.isDynamicDim(dim) && *high >= type.getDimSize(dim);
    if (isPast || (low && *low < 0))
      return gather.emitOpError("reads at ")
             << (isPast ? *high : *low) << " in dimension " << dim << " of "
             << type << ", outside of it; make the loops shorter or pad it";
  }
  return success();
}

void GatherAdjoint::renumber(ScalarBody &body,
                             ArrayRef<std::optional<unsigned>> numbers,
                             unsigned count, MutableArrayRef<Value> kept) {
  SmallVector<AffineExpr> exprs;
  for (std::optional<unsigned> number : numbers)
    exprs.push_back(number ? builder.getAffineDimExpr(*number)
                           : builder.getAffineConstantExpr(0));
  for (AffineMap &map : body.maps)
    map = map.replaceDimsAndSymbols(exprs, {}, count, 0);
  for (IndexOp index :
       llvm::make_early_inc_range(body.block->getOps<IndexOp>())) {
    if (std::optional<unsigned> number = numbers[index.getDim()]) {
      index.setDim(*number);
      continue;
    }
    OpBuilder inside(index);
    Value zero = arith::ConstantIndexOp::create(inside, loc, 0);
    index.replaceAllUsesWith(zero);
    llvm::replace(kept, Value(index), zero);
    index.erase();
  }
}

SmallVector<Value> GatherAdjoint::emitParallel(ScalarBody body,
                                               ValueRange values,
                                               ArrayRef<OpFoldResult> extents) {
  OpBuilder inside = appendTo(*body.block, op.getContext());
  linalg::YieldOp::create(inside, loc, values);
  SmallVector<Value> inits;
  unsigned rank = extents.size();
  for (Value value : values) {
    inits.push_back(createEmpty(extents, value.getType()));
    body.maps.push_back(builder.getMultiDimIdentityMap(rank));
    body.block->addArgument(value.getType(), loc);
  }
  auto generic = GenericOp::create(
      builder, loc, TypeRange(ValueRange(inits)), body.operands, inits,
      body.maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel));
  generic.getRegion().getBlocks().clear();
  generic.getRegion().push_back(body.block.release());
  return generic.getResults();
}

Value GatherAdjoint::emitSelection(ScalarBody body,
                                   MutableArrayRef<Value> indices) {
  SmallVector<std::optional<unsigned>> numbers(op.getNumLoops());
  for (auto [dim, loop] : llvm::enumerate(loops))
    if (loop)
      numbers[*loop] = dim;
  renumber(body, numbers, type.getRank(), indices);
  OpBuilder inside = appendTo(*body.block, op.getContext());
  ExprBuilder eb(inside, loc, type.getElementType());
  Expr isHere = 1;
  for (auto [dim, index] : llvm::enumerate(indices))
    if (!isOwnLoop(dim))
      isHere = isHere & Expr(eb, arith::CmpIOp::create(
                                     inside, loc, arith::CmpIPredicate::eq,
                                     index, IndexOp::create(inside, loc, dim)));
  Expr term = convert(Expr(eb, body.sum), type.getElementType());
  Value selected = select(isHere, term, 0).getValue();
  body.dropUnusedOperands();
  return emitParallel(std::move(body), selected, sizes).front();
}

llvm::SmallBitVector GatherAdjoint::findBatch() {
  llvm::SmallBitVector batch(op.getNumLoops());
  for (auto [dim, index] : llvm::enumerate(gather.getIndices()))
    if (!isOwnLoop(dim))
      batch |= findLoops(op, index);
  return batch;
}

Value GatherAdjoint::findIndexOperand(unsigned dim, ArrayRef<unsigned> batch) {
  Value index = gather.getIndices()[dim];
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    index = cast.getIn();
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument || argument.getOwner() != op.getBlock() ||
      index.getType().isInteger(1))
    return {};
  AffineMap map = op.getIndexingMapsArray()[argument.getArgNumber()];
  if (map.getNumResults() != batch.size())
    return {};
  for (auto [expr, loop] : llvm::zip_equal(map.getResults(), batch))
    if (expr != builder.getAffineDimExpr(loop))
      return {};
  return op->getOperand(argument.getArgNumber());
}

SmallVector<Value> GatherAdjoint::emitIndices(ArrayRef<int64_t> dims,
                                              ArrayRef<unsigned> batch) {
  SmallVector<Value> tensors;
  ScalarBody body;
  IRMapping primals = clonePrimalBody(primal, body);
  OpBuilder inside = appendTo(*body.block, op.getContext());
  SmallVector<Value> computed;
  for (int64_t dim : dims) {
    tensors.push_back(findIndexOperand(dim, batch));
    if (tensors.back())
      continue;
    Value index = primals.lookupOrDefault(gather.getIndices()[dim]);
    computed.push_back(
        arith::IndexCastOp::create(inside, loc, builder.getI64Type(), index));
  }
  if (computed.empty())
    return tensors;
  eraseDeadOps(*body.block, computed);
  body.dropUnusedOperands();
  SmallVector<std::optional<unsigned>> numbers(op.getNumLoops());
  SmallVector<OpFoldResult> extents;
  for (auto [number, loop] : llvm::enumerate(batch)) {
    numbers[loop] = number;
    extents.push_back(getLoopExtent(builder, op, loop));
  }
  renumber(body, numbers, batch.size(), computed);
  SmallVector<Value> results = emitParallel(std::move(body), computed, extents);
  auto next = results.begin();
  for (Value &tensor : tensors)
    if (!tensor)
      tensor = *next++;
  return tensors;
}

Value GatherAdjoint::emitScatter(ScalarBody body) {
  llvm::SmallBitVector isBatch = findBatch();
  SmallVector<unsigned> batch, order;
  SmallVector<OpFoldResult> extents;
  for (unsigned loop : isBatch.set_bits()) {
    batch.push_back(loop);
    extents.push_back(getLoopExtent(builder, op, loop));
  }
  order = batch;
  SmallVector<int64_t> dims;
  for (auto [dim, loop] : llvm::enumerate(loops)) {
    if (!loop || isBatch.test(*loop)) {
      dims.push_back(dim);
      continue;
    }
    order.push_back(*loop);
    extents.push_back(sizes[dim]);
  }

  // Terms for the same place are added up in the tangent type.
  Type tangentType = getTangentType(type.getElementType());
  AffineMap access = AffineMap::getMultiDimMapWithTargets(
      op.getNumLoops(), order, op.getContext());
  Value updates = emitCotangent(builder, op, std::move(body),
                                createEmpty(extents, tangentType), access);
  SmallVector<Value> indices = emitIndices(dims, batch);
  Value zeros = makeZeros(builder, loc, sizes, tangentType);
  Value sum = ScatterAddOp::create(builder, loc, zeros.getType(), updates,
                                   zeros, indices, dims);
  return convertElements(builder, loc, sum, type.getElementType());
}

Value GatherAdjoint::restore(Value cotangent) {
  if (!readsWhole) {
    SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
    Value zeros =
        makeZeros(builder, loc, tensor::getMixedSizes(builder, loc, source),
                  type.getElementType());
    cotangent =
        insertSlice(builder, loc, cotangent, zeros, offsets, sizes, ones);
  }
  if (cotangent.getType() == type)
    return cotangent;
  return tensor::CastOp::create(builder, loc, type, cotangent);
}

FailureOr<Value> GatherAdjoint::run() {
  SmallVector<Value> indices(gather.getIndices());
  for (Value index : indices)
    if (readsOtherIterations(op, index, primal.writtenOnce))
      return gather.emitOpError("reads at an index that depends on other "
                                "iterations, which has no reverse rule; "
                                "compute the index first"),
             failure();
  FailureOr<ScalarBody> body = buildTerms(primal, gather.getResult(), indices);
  if (failed(body))
    return failure();
  if (!body->sum)
    return Value();
  analyze();
  SmallVector<AffineExpr> exprs;
  for (Value index : gather.getIndices())
    exprs.push_back(getAffineIndex(index));
  if (failed(checkBounds(exprs)))
    return failure();
  bool isAffine =
      llvm::all_of(exprs, [](AffineExpr expr) { return bool(expr); });
  if (!isAffine && ownLoops.all())
    return restore(emitSelection(std::move(*body), indices));
  // The terms do not need the indices.
  eraseDeadOps(*body->block, body->sum);
  if (!isAffine)
    return restore(emitScatter(std::move(*body)));
  Value part = readsWhole ? source : createEmpty(sizes, type.getElementType());
  auto access = AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext());
  return restore(emitCotangent(builder, op, std::move(*body), part, access));
}

SmallVector<tensor::ExtractOp> fad::findGathers(LinalgOp op) {
  SmallVector<tensor::ExtractOp> gathers;
  for (auto gather : op.getBlock()->getOps<tensor::ExtractOp>())
    if (!op->isAncestor(gather.getTensor().getParentRegion()->getParentOp()))
      gathers.push_back(gather);
  return gathers;
}

FailureOr<Value> fad::buildGatherCotangent(RewriterBase &rewriter,
                                           const StructuredPrimal &primal,
                                           tensor::ExtractOp gather) {
  return GatherAdjoint(rewriter, primal, gather).run();
}
