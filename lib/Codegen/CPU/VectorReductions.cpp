//===- VectorReductions.cpp - Vector code for reductions of rows ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each lane of a vector combines the numbers of a row at its place in the
// loaded vectors. Then halves of the vector are combined until one number is
// left, and the remainder of the row comes last. This order depends only on the
// number of lanes.
//
//===----------------------------------------------------------------------===//

#include "VectorLoops.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The combination of one result of a body.
struct Combination {
  Operation *op;
  /// The neutral element.
  TypedAttr neutral;
};
} // namespace

static arith::FastMathFlags getFlags(Operation *op) {
  auto flagged = dyn_cast<arith::ArithFastMathInterface>(op);
  return flagged ? flagged.getFastMathFlagsAttr().getValue()
                 : arith::FastMathFlags::none;
}

static TypedAttr getNeutral(Operation *op) {
  bool hasNoNaN = bitEnumContainsAny(getFlags(op), arith::FastMathFlags::nnan);
  Type type = op->getResult(0).getType();
  Builder b(type.getContext());
  auto number = [&](double value) -> TypedAttr {
    return b.getFloatAttr(type, value);
  };
  auto infinite = [&](bool isNegative) -> TypedAttr {
    const auto &semantics = cast<FloatType>(type).getFloatSemantics();
    return b.getFloatAttr(type, APFloat::getInf(semantics, isNegative));
  };
  auto notANumber = [&]() -> TypedAttr {
    const auto &semantics = cast<FloatType>(type).getFloatSemantics();
    return b.getFloatAttr(type, APFloat::getNaN(semantics));
  };
  auto integer = [&](APInt value) -> TypedAttr {
    return b.getIntegerAttr(type, value);
  };
  unsigned bits = type.getIntOrFloatBitWidth();
  return llvm::TypeSwitch<Operation *, TypedAttr>(op)
      .Case<arith::AddFOp>([&](auto) { return number(-0.0); })
      .Case<arith::MulFOp>([&](auto) { return number(1); })
      .Case<arith::MaximumFOp>([&](auto) { return infinite(true); })
      .Case<arith::MinimumFOp>([&](auto) { return infinite(false); })
      .Case<arith::MaxNumFOp, arith::MinNumFOp>([&](auto) {
        return hasNoNaN ? infinite(isa<arith::MaxNumFOp>(op)) : notANumber();
      })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return integer(APInt::getZero(bits)); })
      .Case<arith::MulIOp>([&](auto) { return integer(APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](auto) { return integer(APInt::getAllOnes(bits)); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return integer(APInt::getSignedMinValue(bits)); })
      .Case<arith::MinSIOp>(
          [&](auto) { return integer(APInt::getSignedMaxValue(bits)); })
      .Default(TypedAttr());
}

/// The combinations of the results of `op` along the innermost loop, or nothing
/// if one is unknown.
static std::optional<SmallVector<Combination>>
getCombinations(linalg::GenericOp op) {
  SmallVector<Combination> combinations;
  Block &body = *op.getBody();
  for (auto [index, old] : llvm::enumerate(op.getRegionOutputArgs())) {
    if (!old.hasOneUse())
      return std::nullopt;
    Operation *user = *old.user_begin();
    Value yielded = body.getTerminator()->getOperand(index);
    if (user->getNumOperands() != 2 || user->getNumResults() != 1 ||
        yielded != user->getResult(0) || !yielded.hasOneUse() ||
        !isa<FloatType, IntegerType>(yielded.getType()))
      return std::nullopt;
    TypedAttr neutral = getNeutral(user);
    if (!neutral)
      return std::nullopt;
    combinations.push_back({user, neutral});
  }
  return combinations;
}

/// Lets `combination` take an infinite neutral number, whatever its flags
/// promise of the numbers of the program.
static void allowNeutral(const Combination &combination) {
  auto number = dyn_cast<FloatAttr>(combination.neutral);
  if (!number || !number.getValue().isInfinity())
    return;
  auto flagged = cast<arith::ArithFastMathInterface>(combination.op);
  arith::FastMathFlags flags =
      bitEnumClear(getFlags(combination.op), arith::FastMathFlags::ninf);
  combination.op->setAttr(
      flagged.getFastMathAttrName(),
      arith::FastMathFlagsAttr::get(combination.op->getContext(), flags));
}

static bool isVectorReduction(linalg::GenericOp op) {
  unsigned inner = op.getNumLoops() - 1;
  return op.getNumLoops() != 0 &&
         op.getIteratorTypesArray().back() == utils::IteratorType::reduction &&
         llvm::all_of(
             op.getDpsInputOperands(),
             [&](OpOperand *input) { return isContiguous(op, *input); }) &&
         llvm::all_of(op.getDpsInitsMutable(),
                      [&](OpOperand &output) {
                        AffineMap map = op.getMatchingIndexingMap(&output);
                        return map.isProjectedPermutation() &&
                               !map.isFunctionOfDim(inner);
                      }) &&
         hasVectorizableBody(op);
}

/// Broadcasts `value` to a vector of `lanes`, unless it is one.
static Value spread(OpBuilder &b, Value value, int64_t lanes) {
  if (isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get(lanes, value.getType());
  return vector::BroadcastOp::create(b, value.getLoc(), type, value);
}

/// `op` of a body, on vectors.
static Operation *cloneOnVectors(OpBuilder &b, Operation *op, int64_t lanes,
                                 ValueRange operands) {
  Operation *clone = b.clone(*op);
  clone->setOperands(operands);
  Type element = op->getResult(0).getType();
  clone->getResult(0).setType(VectorType::get(lanes, element));
  return clone;
}

namespace {
/// Emits the loop of one row.
class RowEmitter {
public:
  RowEmitter(RewriterBase &b, linalg::GenericOp op, int64_t lanes,
             ArrayRef<Combination> combinations)
      : b(b), op(op), lanes(lanes), combinations(combinations) {}

  /// Combines the first `whole` numbers of the row at `ivs`, a multiple of the
  /// lanes, with the results.
  void emit(ArrayRef<OpFoldResult> ivs, OpFoldResult whole);

private:
  SmallVector<Value> emitBody(ArrayRef<OpFoldResult> ivs, ValueRange sums);
  Value load(OpOperand &operand, ArrayRef<OpFoldResult> ivs);
  Value reduce(const Combination &combination, Value vector);

  RewriterBase &b;
  linalg::GenericOp op;
  int64_t lanes;
  ArrayRef<Combination> combinations;
};
} // namespace

/// Loads the lanes of `operand` from `ivs` on.
Value RowEmitter::load(OpOperand &operand, ArrayRef<OpFoldResult> ivs) {
  Location loc = op.getLoc();
  Value part = slice(b, op, operand, ivs, b.getIndexAttr(lanes));
  auto type = dyn_cast<MemRefType>(part.getType());
  if (!type)
    return part;
  if (type.getRank() == 0)
    return memref::LoadOp::create(b, loc, part);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto vector = VectorType::get(lanes, type.getElementType());
  return vector::LoadOp::create(b, loc, vector, part, zero);
}

/// Combines `sums`, vectors, with the numbers from `ivs` on.
SmallVector<Value> RowEmitter::emitBody(ArrayRef<OpFoldResult> ivs,
                                        ValueRange sums) {
  IRMapping mapping;
  for (auto [input, argument] :
       llvm::zip_equal(op.getDpsInputOperands(), op.getRegionInputArgs()))
    mapping.map(argument, spread(b, load(*input, ivs), lanes));
  for (auto [sum, argument] : llvm::zip_equal(sums, op.getRegionOutputArgs()))
    mapping.map(argument, sum);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.hasTrait<OpTrait::ConstantLike>()) {
      Value scalar = b.clone(inner)->getResult(0);
      mapping.map(inner.getResult(0), spread(b, scalar, lanes));
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(spread(b, mapping.lookupOrDefault(operand), lanes));
    Operation *clone = cloneOnVectors(b, &inner, lanes, operands);
    mapping.map(inner.getResult(0), clone->getResult(0));
  }
  return llvm::map_to_vector(
      op.getBody()->getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookup(value); });
}

/// All lanes of `vector` combined, halves with halves.
Value RowEmitter::reduce(const Combination &combination, Value vector) {
  Location loc = op.getLoc();
  for (int64_t half = lanes / 2; half != 0; half /= 2) {
    auto part = [&](int64_t offset) -> Value {
      return vector::ExtractStridedSliceOp::create(b, loc, vector, offset, half,
                                                   /*strides=*/1);
    };
    Value low = part(0), high = part(half);
    vector = cloneOnVectors(b, combination.op, half, {low, high})->getResult(0);
  }
  return vector::ExtractOp::create(b, loc, vector, /*position=*/0);
}

void RowEmitter::emit(ArrayRef<OpFoldResult> ivs, OpFoldResult whole) {
  Location loc = op.getLoc();
  SmallVector<Value> sums;
  for (const Combination &combination : combinations) {
    auto type = VectorType::get(lanes, combination.neutral.getType());
    auto splat =
        DenseElementsAttr::get(type, cast<Attribute>(combination.neutral));
    sums.push_back(arith::ConstantOp::create(b, loc, splat));
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value end = getValueOrCreateConstantIndexOp(b, loc, whole);
  Value step = arith::ConstantIndexOp::create(b, loc, lanes);
  auto loop = scf::ForOp::create(
      b, loc, zero, end, step, sums,
      [&](OpBuilder &, Location, Value place, ValueRange carried) {
        SmallVector<OpFoldResult> all(ivs);
        all.push_back(place);
        scf::YieldOp::create(b, loc, emitBody(all, carried));
      });
  for (auto [combination, sum, output] : llvm::zip_equal(
           combinations, loop.getResults(), op.getDpsInitsMutable())) {
    SmallVector<OpFoldResult> all(ivs);
    all.push_back(b.getIndexAttr(0));
    Value place = slice(b, op, output, all, b.getIndexAttr(1));
    Value old = memref::LoadOp::create(b, loc, place);
    Value added = reduce(combination, sum);
    Operation *last = b.clone(*combination.op);
    last->setOperands({old, added});
    memref::StoreOp::create(b, loc, last->getResult(0), place);
  }
}

LogicalResult fad::emitVectorReduction(RewriterBase &rewriter,
                                       linalg::GenericOp op,
                                       int64_t vectorBits) {
  if (!isVectorReduction(op))
    return failure();
  std::optional<SmallVector<Combination>> combinations = getCombinations(op);
  int64_t lanes = vectorBits / getWidestBits(op);
  int64_t range = op.getStaticLoopRanges().back();
  if (!combinations || lanes < 2 ||
      (!ShapedType::isDynamic(range) && range < lanes))
    return failure();
  llvm::for_each(*combinations, allowNeutral);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  InnerLoop row = emitOuterLoops(rewriter, op);
  OpFoldResult whole = row.roundDown(rewriter, op.getLoc(), lanes);
  RowEmitter(rewriter, op, lanes, *combinations).emit(row.outerIVs, whole);
  emitRest(rewriter, op, row, lanes);
  rewriter.eraseOp(op);
  return success();
}
