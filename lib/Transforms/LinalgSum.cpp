//===- LinalgSum.cpp - Sums of adjoints of linalg operations --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgAdjoint.h"
#include "NamedContraction.h"
#include "fad/Interfaces/Expr.h"
#include "fad/Transforms/ElementwiseUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

namespace {
/// How an operation reads an operand. A dimension is indexed by a loop or by a
/// constant.
struct OperandAccess {
  /// The dimensions that are indexed by a loop, with their loop and size.
  SmallVector<unsigned> dims;
  SmallVector<AffineExpr> exprs;
  SmallVector<OpFoldResult> sizes;
  /// The constant index of every dimension, 0 where a loop indexes it.
  SmallVector<OpFoldResult> offsets;
  /// The loops that index a dimension.
  llvm::SmallBitVector loops;
};

/// Emits the cotangent of one operand.
class SumEmitter {
public:
  SumEmitter(RewriterBase &builder, LinalgOp op, Value operand)
      : builder(builder), op(op), loc(op.getLoc()), operand(operand),
        type(cast<RankedTensorType>(operand.getType())) {}

  FailureOr<OperandAccess> analyze(AffineMap map);
  /// The sum of `body` over the loops that `access` does not mention, in the
  /// shape that `access` reads of the operand.
  Value emitSum(ScalarBody body, const OperandAccess &access);
  /// `sum` in the element type and shape of the operand.
  Value restoreShape(Value sum, const OperandAccess &access);

private:
  /// Adds an operand that gives the extent of the loops that neither `covered`
  /// nor an operand of `body` mentions.
  void coverLoops(ScalarBody &body, llvm::SmallBitVector covered);
  /// `sum` with the dimensions of size 1 that `access` left out.
  Value addUnitDims(Value sum, const OperandAccess &access);
  /// `sum` where `access` reads the operand, zero elsewhere.
  Value insertIntoZeros(Value sum, const OperandAccess &access);

  RewriterBase &builder;
  LinalgOp op;
  Location loc;
  Value operand;
  RankedTensorType type;
};
} // namespace

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
  // Nothing is read: the operand only says how long the loops are.
  Type type = body.sum.getType();
  body.operands.push_back(tensor::EmptyOp::create(builder, loc, sizes, type));
  body.maps.push_back(
      AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext()));
  body.block->addArgument(type, loc);
}

/// Whether `body` can be that of `fad.elementwise`: all that it reads are
/// scalars, and it does not ask where it is.
static bool isScalarBody(Block &body) {
  return llvm::all_of(body, [](Operation &op) {
    return op.getNumRegions() == 0 && !isa<IndexOp>(op) &&
           llvm::none_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>);
  });
}

Value SumEmitter::emitSum(ScalarBody body, const OperandAccess &access) {
  unsigned loops = op.getNumLoops();
  bool reduces = access.loops.count() != loops;
  auto outMap = AffineMap::get(loops, 0, access.exprs, op.getContext());
  auto isIdentity = [](AffineMap map) { return map.isIdentity(); };
  OpBuilder inside = appendTo(*body.block, op.getContext());
  ExprBuilder eb(inside, loc, body.sum.getType());
  if (!reduces && outMap.isIdentity() && llvm::all_of(body.maps, isIdentity) &&
      !body.operands.empty() && isScalarBody(*body.block)) {
    // A cotangent that is handed on needs no operation.
    auto argument = dyn_cast<BlockArgument>(body.sum);
    if (argument && body.operands[argument.getArgNumber()].getType() == type)
      return body.operands[argument.getArgNumber()];
    Value sum = convert(Expr(eb, body.sum), type.getElementType()).getValue();
    return buildElementwise(builder, loc, type, std::move(body.block),
                            body.operands, sum)
        ->getResult(0);
  }

  coverLoops(body, access.loops);
  // A sum of many terms is accumulated in the tangent type, else it is rounded
  // right away.
  Type elementType = reduces ? body.sum.getType() : type.getElementType();
  Value init = tensor::EmptyOp::create(builder, loc, access.sizes, elementType);
  Expr sum = convert(Expr(eb, body.sum), elementType);
  BlockArgument out = body.block->addArgument(elementType, loc);
  if (reduces) {
    Value zero = arith::ConstantOp::create(builder, loc,
                                           builder.getZeroAttr(elementType));
    init = FillOp::create(builder, loc, zero, init).getResult(0);
    sum = Expr(eb, out) + sum;
  }
  linalg::YieldOp::create(inside, loc, sum.getValue());

  body.maps.push_back(outMap);
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop : llvm::seq(loops))
    iterators.push_back(access.loops.test(loop)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  auto generic = GenericOp::create(builder, loc, init.getType(), body.operands,
                                   init, body.maps, iterators);
  generic.getRegion().getBlocks().clear();
  generic.getRegion().push_back(body.block.release());
  return nameContraction(builder, generic)->getResult(0);
}

/// Whether every dimension that is read at a constant index has size 1.
static bool readsWholeOperand(const OperandAccess &access,
                              RankedTensorType type) {
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(access.dims, dim) && type.getDimSize(dim) != 1)
      return false;
  return true;
}

Value SumEmitter::addUnitDims(Value sum, const OperandAccess &access) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices group;
  SmallVector<OpFoldResult> sizes(type.getRank(), builder.getIndexAttr(1));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    group.push_back(dim);
    auto it = llvm::find(access.dims, dim);
    if (it == access.dims.end())
      continue;
    sizes[dim] = access.sizes[it - access.dims.begin()];
    groups.push_back(std::exchange(group, {}));
  }
  if (!groups.empty())
    llvm::append_range(groups.back(), group);
  auto expanded = type.clone(getElementTypeOrSelf(sum));
  return tensor::ExpandShapeOp::create(builder, loc, expanded, sum, groups,
                                       sizes);
}

Value SumEmitter::insertIntoZeros(Value sum, const OperandAccess &access) {
  Type elementType = type.getElementType();
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, operand), elementType);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(elementType));
  Value zeros = FillOp::create(builder, loc, zero, empty).getResult(0);
  SmallVector<OpFoldResult> ones(access.offsets.size(),
                                 builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = ones;
  for (auto [dim, size] : llvm::zip(access.dims, access.sizes))
    sizes[dim] = size;
  return tensor::InsertSliceOp::create(builder, loc, sum, zeros, access.offsets,
                                       sizes, ones);
}

Value SumEmitter::restoreShape(Value sum, const OperandAccess &access) {
  Type elementType = type.getElementType();
  auto sumType = cast<RankedTensorType>(sum.getType());
  if (sumType.getElementType() != elementType) {
    sum = fad::ElementwiseOp::create(
              builder, loc, sum,
              [&](OpBuilder &b, Location loc, ValueRange arguments) {
                ExprBuilder eb(b, loc, elementType);
                return SmallVector<Value>{
                    convert(Expr(eb, arguments[0]), elementType).getValue()};
              })
              ->getResult(0);
    sumType = cast<RankedTensorType>(sum.getType());
  }
  if (access.dims.size() != static_cast<size_t>(type.getRank())) {
    sum = readsWholeOperand(access, type) ? addUnitDims(sum, access)
                                          : insertIntoZeros(sum, access);
    sumType = cast<RankedTensorType>(sum.getType());
  }
  if (sumType != type)
    sum = tensor::CastOp::create(builder, loc, type, sum);
  return sum;
}

FailureOr<OperandAccess> SumEmitter::analyze(AffineMap map) {
  OperandAccess access;
  access.loops.resize(op.getNumLoops());
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      access.offsets.push_back(builder.getIndexAttr(constant.getValue()));
      continue;
    }
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || access.loops.test(loop.getPosition()))
      return op.emitOpError("reads operand ")
                 << llvm::find(op->getOperands(), operand).getIndex()
                 << " through " << AffineMapAttr::get(map)
                 << ", which has no reverse rule yet; only permutations, "
                    "broadcasts and constant indices have one",
             failure();
    access.loops.set(loop.getPosition());
    access.offsets.push_back(builder.getIndexAttr(0));
    access.dims.push_back(dim);
    access.exprs.push_back(expr);
    access.sizes.push_back(tensor::getMixedSize(builder, loc, operand, dim));
  }
  return access;
}

FailureOr<Value> fad::emitCotangent(RewriterBase &rewriter, LinalgOp op,
                                    ScalarBody body, Value operand,
                                    AffineMap map) {
  SumEmitter emitter(rewriter, op, operand);
  FailureOr<OperandAccess> access = emitter.analyze(map);
  if (failed(access))
    return failure();
  body.dropUnusedOperands();
  Value sum = emitter.emitSum(std::move(body), *access);
  return emitter.restoreShape(sum, *access);
}
