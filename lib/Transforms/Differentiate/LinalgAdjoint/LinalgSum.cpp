//===- LinalgSum.cpp - Sums of adjoints of linalg operations --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgAdjoint.h"
#include "LinalgIndexing.h"
#include "fad/Interfaces/Expr.h"
#include "fad/Interfaces/Slices.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

namespace {
/// The access to one dimension of an operand: at `stride * loop + offset`, or
/// at `offset` without a loop.
struct DimAccess {
  std::optional<unsigned> loop;
  int64_t stride = 1, offset = 0;
  /// Whether the loop reads all elements.
  bool isWhole = false;

  bool isLoop() const { return isWhole && stride == 1; }
};

/// The access to an operand such that no two iterations of its index loops read
/// the same element.
struct OperandAccess {
  SmallVector<DimAccess> dims;
  /// The loops that index a dimension, in the order of the dimensions, and
  /// their extents.
  SmallVector<unsigned> loops;
  SmallVector<OpFoldResult> sizes;

  /// Whether a different loop indexes each dimension.
  bool isPermutation() const {
    return loops.size() == dims.size() &&
           llvm::all_of(dims,
                        [](const DimAccess &dim) { return dim.isLoop(); });
  }
  OpFoldResult getSize(const DimAccess &dim) const {
    return sizes[llvm::find(loops, *dim.loop) - loops.begin()];
  }
};

/// Emits the cotangent of one operand.
class SumEmitter {
public:
  SumEmitter(RewriterBase &builder, LinalgOp op, Value operand)
      : builder(builder), op(op), loc(op.getLoc()), operand(operand),
        type(dyn_cast<RankedTensorType>(operand.getType())) {
    if (!type)
      type = RankedTensorType::get({}, operand.getType());
  }

  Value run(ScalarBody body, AffineMap map);

private:
  /// Nothing if several iterations may read the same element through `map`. In
  /// the dimensions in `partial`, a loop may not read all elements.
  std::optional<OperandAccess> analyze(AffineMap map,
                                       const llvm::SmallBitVector &partial);
  /// The sum of `body` over the loops that `access` lacks, with one dimension
  /// for each of its loops.
  Value emitSum(ScalarBody body, const OperandAccess &access);
  /// The sum of `body` without an operation on many dimensions, if possible.
  Value emitElementwise(ScalarBody &body, const OperandAccess &access);
  /// Adds the terms to the elements, one iteration after the other.
  Value emitAccumulation(ScalarBody body, AffineMap map);
  /// An operation that adds up the terms of `body` in a tensor of zeros of
  /// sizes `sizes`, or only stores them if all loops are parallel.
  Value emitGeneric(ScalarBody body, AffineMap outMap,
                    ArrayRef<OpFoldResult> sizes,
                    const llvm::SmallBitVector &parallel);
  /// Adds an operand that gives the extent of the loops that are neither in
  /// `covered` nor in an operand of `body`.
  void coverLoops(ScalarBody &body, llvm::SmallBitVector covered);
  /// `sum` in the element type and shape of the operand.
  Value restoreShape(Value sum, const OperandAccess &access);
  /// `sum` with elements in the order in which the operand has them.
  Value reverse(Value sum, const OperandAccess &access);
  /// `sum` with a dimension for each dimension that a loop indexes; zero off
  /// the diagonals of dimensions that share a loop.
  Value spreadDiagonals(Value sum, const OperandAccess &access);
  /// `sum` with the dimensions of size 1 that `access` left out.
  Value addUnitDims(Value sum, const OperandAccess &access);
  /// `sum` at the elements that `access` reads, zero elsewhere.
  Value insertIntoZeros(Value sum, const OperandAccess &access);
  Value emitZeros();
  Value convertElements(Value sum) {
    return fad::convertElements(builder, loc, sum, type.getElementType());
  }
  Value castToOperand(Value sum);

  RewriterBase &builder;
  LinalgOp op;
  Location loc;
  Value operand;
  /// The type of `operand`; of rank 0 for a scalar.
  RankedTensorType type;
};
} // namespace

std::optional<OperandAccess>
SumEmitter::analyze(AffineMap map, const llvm::SmallBitVector &partial) {
  OperandAccess access;
  for (auto [position, expr] : llvm::enumerate(map.getResults())) {
    std::optional<LinearIndex> index = getLinearIndex(expr);
    if (!index || index->terms.size() > 1 ||
        (index->terms.empty() && index->offset < 0))
      return std::nullopt;
    DimAccess &dim = access.dims.emplace_back();
    dim.offset = index->offset;
    if (index->terms.empty())
      continue;
    std::tie(dim.loop, dim.stride) = index->terms.front();
    bool isAlone = isa<AffineDimExpr>(expr) && !partial.test(position);
    OpFoldResult size =
        isAlone ? tensor::getMixedSize(builder, loc, operand, position)
                : getLoopExtent(builder, op, *dim.loop);
    dim.isWhole = isAlone || (std::abs(dim.stride) == 1 &&
                              isConstantSize(size, type.getDimSize(position)));
    if (!llvm::is_contained(access.loops, *dim.loop)) {
      access.loops.push_back(*dim.loop);
      access.sizes.push_back(size);
      continue;
    }
    // A diagonal.
    for (const DimAccess &other : access.dims)
      if (other.loop == dim.loop && !other.isLoop())
        return std::nullopt;
  }
  return access;
}

void SumEmitter::coverLoops(ScalarBody &body, llvm::SmallBitVector covered) {
  for (AffineMap map : body.maps)
    for (AffineExpr expr : map.getResults())
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        covered.set(loop.getPosition());
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> exprs;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || covered.test(loop.getPosition()))
        continue;
      covered.set(loop.getPosition());
      exprs.push_back(expr);
      sizes.push_back(tensor::getMixedSize(builder, loc, operand.get(), dim));
    }
  }
  if (exprs.empty())
    return;
  // The operand only gives the extents of the loops.
  Type type = body.sum.getType();
  body.operands.push_back(tensor::EmptyOp::create(builder, loc, sizes, type));
  body.maps.push_back(
      AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext()));
  body.block->addArgument(type, loc);
}

/// Whether `body` can be that of `fad.elementwise`: its operands are scalars,
/// and it does not use its position.
static bool isScalarBody(Block &body) {
  return llvm::all_of(body, [](Operation &op) {
    return op.getNumRegions() == 0 && !isa<IndexOp>(op) &&
           llvm::none_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>);
  });
}

Value SumEmitter::emitElementwise(ScalarBody &body,
                                  const OperandAccess &access) {
  auto isIdentity = [](AffineMap map) { return map.isIdentity(); };
  auto shape = llvm::find_if(body.operands, [](Value value) {
    return isa<RankedTensorType>(value.getType());
  });
  if (!llvm::equal(access.loops, llvm::seq<unsigned>(0, op.getNumLoops())) ||
      !llvm::all_of(body.maps, isIdentity) || shape == body.operands.end() ||
      !isScalarBody(*body.block))
    return {};
  // A cotangent that is passed on needs no operation.
  Type elementType = type.getElementType();
  auto argument = dyn_cast<BlockArgument>(body.sum);
  Type sumType =
      access.isPermutation()
          ? type
          : cast<RankedTensorType>(shape->getType()).clone(elementType);
  if (argument && body.operands[argument.getArgNumber()].getType() == sumType)
    return body.operands[argument.getArgNumber()];
  OpBuilder inside = appendTo(*body.block, op.getContext());
  ExprBuilder eb(inside, loc, body.sum.getType());
  Value sum = convert(Expr(eb, body.sum), elementType).getValue();
  return buildElementwise(builder, loc, sumType, std::move(body.block),
                          body.operands, sum)
      ->getResult(0);
}

/// Moves the operand that is read in windows to the front: the image of a
/// convolution.
static void putImageFirst(ScalarBody &body) {
  if (body.operands.size() != 2 || !body.maps[0].isProjectedPermutation() ||
      body.maps[1].isProjectedPermutation())
    return;
  std::swap(body.operands[0], body.operands[1]);
  std::swap(body.maps[0], body.maps[1]);
  BlockArgument image = body.block->getArgument(1);
  BlockArgument first =
      body.block->insertArgument(unsigned(0), image.getType(), image.getLoc());
  image.replaceAllUsesWith(first);
  if (body.sum == image)
    body.sum = first;
  body.block->eraseArgument(2);
}

Value SumEmitter::emitGeneric(ScalarBody body, AffineMap outMap,
                              ArrayRef<OpFoldResult> sizes,
                              const llvm::SmallBitVector &parallel) {
  putImageFirst(body);
  bool reduces = !parallel.all();
  OpBuilder inside = appendTo(*body.block, op.getContext());
  ExprBuilder eb(inside, loc, body.sum.getType());
  // A sum of many terms is accumulated in the tangent type, else it is rounded
  // right away.
  Type elementType = reduces ? body.sum.getType() : type.getElementType();
  Value init = reduces
                   ? makeZeros(builder, loc, sizes, elementType)
                   : tensor::EmptyOp::create(builder, loc, sizes, elementType)
                         .getResult();
  Expr sum = convert(Expr(eb, body.sum), elementType);
  BlockArgument out = body.block->addArgument(elementType, loc);
  if (reduces)
    sum = Expr(eb, out) + sum;
  linalg::YieldOp::create(inside, loc, sum.getValue());

  body.maps.push_back(outMap);
  SmallVector<utils::IteratorType> iterators(parallel.size(),
                                             utils::IteratorType::reduction);
  for (unsigned loop : parallel.set_bits())
    iterators[loop] = utils::IteratorType::parallel;
  auto generic = GenericOp::create(builder, loc, init.getType(), body.operands,
                                   init, body.maps, iterators);
  generic.getRegion().getBlocks().clear();
  generic.getRegion().push_back(body.block.release());
  return nameContraction(builder, generic)->getResult(0);
}

Value SumEmitter::emitSum(ScalarBody body, const OperandAccess &access) {
  if (Value sum = emitElementwise(body, access))
    return sum;
  llvm::SmallBitVector parallel(op.getNumLoops());
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : access.loops) {
    parallel.set(loop);
    exprs.push_back(builder.getAffineDimExpr(loop));
  }
  coverLoops(body, parallel);
  auto outMap = AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext());
  return emitGeneric(std::move(body), outMap, access.sizes, parallel);
}

Value SumEmitter::emitAccumulation(ScalarBody body, AffineMap map) {
  // Loops that index a dimension alone write different elements.
  llvm::SmallBitVector parallel(op.getNumLoops()), shared(op.getNumLoops());
  for (AffineExpr expr : map.getResults())
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (expr == builder.getAffineDimExpr(loop))
        parallel.set(loop);
  llvm::SmallBitVector covered = parallel;
  for (AffineExpr expr : map.getResults())
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (!isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(loop))
        parallel.reset(loop);
  coverLoops(body, covered);
  return emitGeneric(std::move(body), map,
                     tensor::getMixedSizes(builder, loc, operand), parallel);
}

/// The size of a dimension of a slice: that of `shape`, of the sum that is
/// inserted, where it is static, as upstream's verifier compares them.
static OpFoldResult refineSize(OpBuilder &b, OpFoldResult size,
                               ArrayRef<int64_t> shape, unsigned dim) {
  return ShapedType::isDynamic(shape[dim]) ? size : b.getIndexAttr(shape[dim]);
}

Value SumEmitter::addUnitDims(Value sum, const OperandAccess &access) {
  ArrayRef<int64_t> summed = cast<RankedTensorType>(sum.getType()).getShape();
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices group;
  SmallVector<OpFoldResult> sizes(type.getRank(), builder.getIndexAttr(1));
  for (auto [position, dim] : llvm::enumerate(access.dims)) {
    group.push_back(position);
    if (!dim.loop)
      continue;
    sizes[position] =
        refineSize(builder, access.getSize(dim), summed, groups.size());
    groups.push_back(std::exchange(group, {}));
  }
  if (!groups.empty())
    llvm::append_range(groups.back(), group);
  SmallVector<int64_t> shape;
  std::tie(shape, std::ignore) = decomposeMixedValues(sizes);
  auto expanded = type.clone(shape, getElementTypeOrSelf(sum));
  return tensor::ExpandShapeOp::create(builder, loc, expanded, sum, groups,
                                       sizes);
}

Value SumEmitter::emitZeros() {
  SmallVector<OpFoldResult> sizes;
  if (type.getRank() != 0)
    sizes = tensor::getMixedSizes(builder, loc, operand);
  return makeZeros(builder, loc, sizes, type.getElementType());
}

Value SumEmitter::insertIntoZeros(Value sum, const OperandAccess &access) {
  Value zeros = emitZeros();
  ArrayRef<int64_t> summed = cast<RankedTensorType>(sum.getType()).getShape();
  bool hasUnitDims = summed.size() == access.dims.size();
  unsigned next = 0;
  SmallVector<OpFoldResult> offsets, sizes, strides;
  for (const DimAccess &dim : access.dims) {
    offsets.push_back(builder.getIndexAttr(dim.offset));
    sizes.push_back(dim.loop ? access.getSize(dim) : builder.getIndexAttr(1));
    if (dim.loop || hasUnitDims)
      sizes.back() = refineSize(builder, sizes.back(), summed, next++);
    // A dimension of one element has stride 1.
    strides.push_back(builder.getIndexAttr(
        isConstantSize(sizes.back(), 1) ? 1 : std::abs(dim.stride)));
    // The slice of a descending loop begins at its last iteration.
    if (dim.stride < 0)
      offsets.back() = affine::makeComposedFoldedAffineApply(
          builder, loc,
          (builder.getAffineDimExpr(0) - 1) * dim.stride + dim.offset,
          sizes.back());
  }
  return insertSlice(builder, loc, sum, zeros, offsets, sizes, strides);
}

Value SumEmitter::reverse(Value sum, const OperandAccess &access) {
  llvm::SmallBitVector reversed(access.loops.size());
  for (const DimAccess &dim : access.dims)
    if (dim.stride < 0)
      reversed.set(llvm::find(access.loops, *dim.loop) - access.loops.begin());
  if (reversed.none())
    return sum;
  return buildReverse(builder, loc, sum, reversed,
                      llvm::to_vector(llvm::seq<int64_t>(reversed.size())));
}

Value SumEmitter::spreadDiagonals(Value sum, const OperandAccess &access) {
  SmallVector<OpFoldResult> sizes;
  SmallVector<unsigned> loops;
  for (const DimAccess &dim : access.dims) {
    if (!dim.loop)
      continue;
    sizes.push_back(access.getSize(dim));
    loops.push_back(*dim.loop);
  }
  unsigned rank = loops.size();
  if (rank == access.loops.size())
    return sum;
  auto findFirst = [&](unsigned loop) {
    return llvm::find(loops, loop) - loops.begin();
  };
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : access.loops)
    exprs.push_back(builder.getAffineDimExpr(findFirst(loop)));
  Type elementType = getElementTypeOrSelf(sum);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, elementType);
  SmallVector<AffineMap> maps = {
      AffineMap::get(rank, 0, exprs, op.getContext()),
      builder.getMultiDimIdentityMap(rank)};
  auto generic = GenericOp::create(
      builder, loc, empty.getType(), sum, empty, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        Value zero =
            arith::ConstantOp::create(b, loc, b.getZeroAttr(elementType));
        Value element = arguments[0];
        for (unsigned dim = 0; dim < rank; ++dim) {
          unsigned first = findFirst(loops[dim]);
          if (first == dim)
            continue;
          Value onDiagonal = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::eq, IndexOp::create(b, loc, dim),
              IndexOp::create(b, loc, first));
          element = arith::SelectOp::create(b, loc, onDiagonal, element, zero);
        }
        linalg::YieldOp::create(b, loc, element);
      });
  return generic.getResult(0);
}

Value SumEmitter::castToOperand(Value sum) {
  if (isa<FloatType>(operand.getType()))
    return tensor::ExtractOp::create(builder, loc, sum, ValueRange());
  if (sum.getType() == type)
    return sum;
  return tensor::CastOp::create(builder, loc, type, sum);
}

Value SumEmitter::restoreShape(Value sum, const OperandAccess &access) {
  sum = reverse(convertElements(sum), access);
  sum = spreadDiagonals(sum, access);
  bool isWhole = true, hasAll = true;
  for (auto [dim, size] : llvm::zip_equal(access.dims, type.getShape())) {
    hasAll &= bool(dim.loop);
    isWhole &= dim.loop ? dim.isWhole : size == 1;
  }
  if (!isWhole)
    sum = insertIntoZeros(sum, access);
  else if (!hasAll)
    sum = addUnitDims(sum, access);
  return castToOperand(sum);
}

Value SumEmitter::run(ScalarBody body, AffineMap map) {
  body.dropUnusedOperands();
  // Without iterations there are no terms, and possibly no elements.
  if (llvm::is_contained(op.getStaticLoopRanges(), 0))
    return castToOperand(emitZeros());
  llvm::SmallBitVector partial;
  map = solveWindows(builder, op, body, operand, map, partial);
  if (std::optional<OperandAccess> access = analyze(map, partial))
    return restoreShape(emitSum(std::move(body), *access), *access);
  return castToOperand(convertElements(emitAccumulation(std::move(body), map)));
}

Value fad::emitCotangent(RewriterBase &rewriter, LinalgOp op, ScalarBody body,
                         Value operand, AffineMap access) {
  return SumEmitter(rewriter, op, operand).run(std::move(body), access);
}
