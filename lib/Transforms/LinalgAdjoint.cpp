//===- LinalgAdjoint.cpp - Adjoint of linalg structured operations --------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NamedContraction.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Adjoint.h"
#include "fad/Transforms/ElementwiseUtils.h"
#include "fad/Transforms/ForwardMode.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

namespace {
/// The body of an adjoint under construction: one operand and map for each
/// argument of the block, and the value that it computes.
struct ScalarBody {
  std::unique_ptr<Block> block;
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  /// The sum of cotangent times derivative, in the tangent type of the
  /// operand; null where it is zero.
  Value sum;
};

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

/// The adjoint of one structured operation.
class LinalgAdjoint {
public:
  LinalgAdjoint(AdjointBuilder &adjoint, LinalgOp op, ValueRange cotangents)
      : adjoint(adjoint), builder(adjoint.builder), op(op), loc(op.getLoc()),
        cotangents(cotangents) {}

  FailureOr<Cotangents> run();

private:
  /// Whether each iteration writes another element of the result that `init`
  /// is tied to, and all iterations together write all of it. `init` then is an
  /// input like any other.
  bool isWrittenOnce(OpOperand &init);
  /// The partial derivative of what the body yields for each result with
  /// respect to `init`; null where it is zero or the result has no cotangent.
  LogicalResult differentiateInit(OpOperand &init,
                                  SmallVectorImpl<Expr> &partials);
  /// Finds out how each result depends on its init. Fails where elements that
  /// are written several times are not sums.
  LogicalResult classifyResults();
  LogicalResult emitNotASum();
  FailureOr<Value> getInputCotangent(OpOperand &input);
  FailureOr<OperandAccess> analyze(OpOperand &input);
  FailureOr<ScalarBody> buildTerms(OpOperand &input);
  /// Adds an operand that gives the extent of the loops that neither `covered`
  /// nor an operand of `body` mentions.
  void coverLoops(ScalarBody &body, llvm::SmallBitVector covered);
  /// The sum of `body` over the loops that `access` does not mention, in the
  /// shape that `access` reads of an operand of type `type`.
  Value emitSum(ScalarBody body, const OperandAccess &access,
                RankedTensorType type);
  /// `sum` with the dimensions of size 1 that `access` left out.
  Value addUnitDims(Value sum, const OperandAccess &access,
                    RankedTensorType type);
  /// `sum` where `access` reads `operand`, zero elsewhere.
  Value insertIntoZeros(Value sum, const OperandAccess &access, Value operand);
  /// `sum` in the element type and shape of `operand`.
  Value restoreShape(Value sum, const OperandAccess &access, Value operand);

  AdjointBuilder &adjoint;
  RewriterBase &builder;
  LinalgOp op;
  Location loc;
  ValueRange cotangents;
  /// For each result, whether it, and nothing else, adds to its init, and
  /// whether `isWrittenOnce` holds.
  SmallVector<bool> accumulates, writtenOnce;
};
} // namespace

bool LinalgAdjoint::isWrittenOnce(OpOperand &init) {
  AffineMap map = op.getMatchingIndexingMap(&init);
  ArrayRef<int64_t> shape = op.getShape(&init);
  llvm::SmallBitVector loops(op.getNumLoops());
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), shape)) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (loop ? loops.test(loop.getPosition()) : size != 1)
      return false;
    if (loop)
      loops.set(loop.getPosition());
  }
  return loops.all();
}

LogicalResult
LinalgAdjoint::differentiateInit(OpOperand &init,
                                 SmallVectorImpl<Expr> &partials) {
  Block &body = *op.getBlock();
  // The body is differentiated in a block that is thrown away.
  Block scratch;
  OpBuilder scratchBuilder = appendTo(scratch, op.getContext());
  IRMapping primals;
  for (BlockArgument argument : body.getArguments())
    primals.map(argument, scratch.addArgument(argument.getType(), loc));
  clonePrimals(scratchBuilder, body, primals);
  TangentMap tangents;
  tangents[op.getMatchingBlockArgument(&init)] = 1;
  if (failed(pushforward(scratchBuilder, body, primals, tangents)))
    return failure();
  for (auto [index, yielded] :
       llvm::enumerate(body.getTerminator()->getOperands()))
    partials.push_back(cotangents[index] ? tangents.lookup(yielded) : Expr());
  return success();
}

LogicalResult LinalgAdjoint::classifyResults() {
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    accumulates.push_back(false);
    writtenOnce.push_back(isWrittenOnce(init));
    if (!op.payloadUsesValueFromOperand(&init)) {
      if (cotangents[index] && !writtenOnce.back())
        return op.emitOpError("writes result ")
               << index << " through "
               << AffineMapAttr::get(op.getMatchingIndexingMap(&init))
               << " without reading it, which has no reverse rule unless each "
                  "element is written once; add to the elements instead";
      continue;
    }
    if (!getTangentType(getElementTypeOrSelf(init.get())))
      continue;
    SmallVector<Expr> partials;
    if (failed(differentiateInit(init, partials)))
      return failure();
    bool adds = partials[index] && partials[index].isConstant(1);
    bool reachesOthers = false;
    for (auto [result, partial] : llvm::enumerate(partials))
      reachesOthers |= result != index && partial && !partial.isConstant(0);
    if (!writtenOnce.back() && (reachesOthers || (cotangents[index] && !adds)))
      return emitNotASum();
    accumulates.back() = adds && !reachesOthers;
  }
  return success();
}

LogicalResult LinalgAdjoint::emitNotASum() {
  return op.emitOpError("combines elements in another way than by adding "
                        "them up, which has no reverse rule yet; write the "
                        "reduction as a sum");
}

FailureOr<ScalarBody> LinalgAdjoint::buildTerms(OpOperand &input) {
  Block &primal = *op.getBlock();
  ScalarBody body;
  body.block = std::make_unique<Block>();
  OpBuilder inside = appendTo(*body.block, op.getContext());
  auto addOperand = [&](Value value, AffineMap map) {
    body.operands.push_back(value);
    body.maps.push_back(map);
    return body.block->addArgument(getElementTypeOrSelf(value), loc);
  };
  auto getResultMap = [&](unsigned index) {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(index));
  };

  IRMapping primals;
  for (OpOperand &operand : op->getOpOperands())
    primals.map(op.getMatchingBlockArgument(&operand),
                addOperand(operand.get(), op.getMatchingIndexingMap(&operand)));
  clonePrimals(inside, primal, primals);
  // What the operation wrote is read, not computed again.
  ValueRange yielded = primal.getTerminator()->getOperands();
  for (auto [index, value] : llvm::enumerate(yielded))
    if (writtenOnce[index] && value.getParentBlock() == &primal &&
        value.getDefiningOp())
      primals.map(value, addOperand(op->getResult(index), getResultMap(index)));

  TangentMap tangents;
  tangents[op.getMatchingBlockArgument(&input)] = 1;
  if (failed(pushforward(inside, primal, primals, tangents,
                         adjoint.preferResults)))
    return failure();

  Type type = getTangentType(getElementTypeOrSelf(input.get()));
  ExprBuilder eb(inside, loc, type);
  Expr sum;
  for (auto [index, cotangent] : llvm::enumerate(cotangents)) {
    Expr tangent = tangents.lookup(yielded[index]);
    if (!cotangent || !tangent || tangent.isConstant(0))
      continue;
    if (Value value = tangent.getValue())
      tangent = convert(Expr(eb, value), type);
    Value argument = addOperand(cotangent, getResultMap(index));
    Expr term = tangentProduct(convert(Expr(eb, argument), type), tangent);
    sum = sum ? sum + term : term;
  }
  if (!sum)
    return body;
  body.sum = sum.materialize(eb, type);
  eraseDeadOps(*body.block, body.sum);
  // What is summed up so far is not what the init holds.
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!writtenOnce[init.getOperandNumber() - op.getNumDpsInputs()] &&
        !body.block->getArgument(init.getOperandNumber()).use_empty())
      return emitNotASum();
  return body;
}

/// Drops the operands whose argument the body ignores.
static void dropUnusedOperands(ScalarBody &body) {
  for (unsigned index = body.operands.size(); index-- > 0;) {
    BlockArgument argument = body.block->getArgument(index);
    if (!argument.use_empty() || argument == body.sum)
      continue;
    body.block->eraseArgument(index);
    body.operands.erase(body.operands.begin() + index);
    body.maps.erase(body.maps.begin() + index);
  }
}

void LinalgAdjoint::coverLoops(ScalarBody &body, llvm::SmallBitVector covered) {
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

Value LinalgAdjoint::emitSum(ScalarBody body, const OperandAccess &access,
                             RankedTensorType type) {
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

Value LinalgAdjoint::addUnitDims(Value sum, const OperandAccess &access,
                                 RankedTensorType type) {
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

Value LinalgAdjoint::insertIntoZeros(Value sum, const OperandAccess &access,
                                     Value operand) {
  Type elementType = getElementTypeOrSelf(operand);
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

Value LinalgAdjoint::restoreShape(Value sum, const OperandAccess &access,
                                  Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
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
    sum = readsWholeOperand(access, type)
              ? addUnitDims(sum, access, type)
              : insertIntoZeros(sum, access, operand);
    sumType = cast<RankedTensorType>(sum.getType());
  }
  if (sumType != type)
    sum = tensor::CastOp::create(builder, loc, type, sum);
  return sum;
}

FailureOr<OperandAccess> LinalgAdjoint::analyze(OpOperand &input) {
  OperandAccess access;
  access.loops.resize(op.getNumLoops());
  AffineMap map = op.getMatchingIndexingMap(&input);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      access.offsets.push_back(builder.getIndexAttr(constant.getValue()));
      continue;
    }
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || access.loops.test(loop.getPosition()))
      return op.emitOpError("reads operand ")
                 << input.getOperandNumber() << " through "
                 << AffineMapAttr::get(map)
                 << ", which has no reverse rule yet; only permutations, "
                    "broadcasts and constant indices have one",
             failure();
    access.loops.set(loop.getPosition());
    access.offsets.push_back(builder.getIndexAttr(0));
    access.dims.push_back(dim);
    access.exprs.push_back(expr);
    access.sizes.push_back(
        tensor::getMixedSize(builder, loc, input.get(), dim));
  }
  return access;
}

FailureOr<Value> LinalgAdjoint::getInputCotangent(OpOperand &input) {
  FailureOr<OperandAccess> access = analyze(input);
  if (failed(access))
    return failure();
  FailureOr<ScalarBody> body = buildTerms(input);
  if (failed(body))
    return failure();
  if (!body->sum)
    return Value();
  dropUnusedOperands(*body);
  auto type = cast<RankedTensorType>(input.get().getType());
  Value sum = emitSum(std::move(*body), *access, type);
  return restoreShape(sum, *access, input.get());
}

FailureOr<Cotangents> LinalgAdjoint::run() {
  if (!op.hasPureTensorSemantics())
    return op.emitOpError("works on buffers, which have no gradients; "
                          "differentiate before bufferization");
  if (failed(classifyResults()))
    return failure();
  Cotangents operands(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!adjoint.isVaried(operand.get()))
      continue;
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    if (op.isDpsInit(&operand)) {
      unsigned index = operand.getOperandNumber() - op.getNumDpsInputs();
      if (accumulates[index] || !writtenOnce[index]) {
        operands[operand.getOperandNumber()] = cotangents[index];
        continue;
      }
    }
    FailureOr<Value> cotangent = getInputCotangent(operand);
    if (failed(cotangent))
      return failure();
    operands[operand.getOperandNumber()] = *cotangent;
  }
  return operands;
}

FailureOr<Cotangents> fad::buildAdjoint(AdjointBuilder &adjoint, LinalgOp op,
                                        ValueRange cotangents) {
  return LinalgAdjoint(adjoint, op, cotangents).run();
}
