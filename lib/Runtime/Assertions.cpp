//===- Assertions.cpp - Preconditions of operations -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assertions.h"
#include "fad/Analysis/SizeExpr.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace {
/// Asserts conditions of one operation, before it.
class OperationAsserter {
public:
  explicit OperationAsserter(Operation *op) : builder(op), loc(op->getLoc()) {
    // Its region takes no other operations.
    if (auto parallel = dyn_cast_or_null<scf::InParallelOp>(op->getParentOp()))
      builder.setInsertionPoint(parallel);
  }

  void check(Value condition, StringRef message) {
    cf::AssertOp::create(builder, loc, condition, message);
  }
  void checkDivision(Value dividend, Value divisor, bool isSigned);
  /// Checks the sizes of a tensor that are not known at compile time; `shape`
  /// holds the others.
  void checkSizes(ValueRange sizes, ArrayRef<int64_t> shape = {});
  void checkExpansion(tensor::ExpandShapeOp op);
  void checkReshape(tensor::ReshapeOp op);
  /// Checks that a slice of `whole` is inside of it.
  void checkSlice(OffsetSizeAndStrideOpInterface slice, Value whole);
  template <typename Op> void checkInsertion(Op op);
  void checkPadding(tensor::PadOp op);
  void checkConcatenation(tensor::ConcatOp op);
  void checkStep(Value step, bool isUnsigned);
  /// Checks indices that do not grow with each loop: upstream compares only
  /// those of the first and of the last iteration.
  void checkAccesses(linalg::LinalgOp op);

private:
  /// Whether `expr` is in [0, size) in all iterations of the loops that it
  /// reads, of the sizes `loops`. True without a test if `isEmpty`, that is, if
  /// there are no iterations; the test ends at the first one that is outside.
  Value tryAll(AffineExpr expr, ArrayRef<Value> loops, Value size,
               Value isEmpty);

  Value constant(const APInt &value, Type type) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value compare(CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value size(Value tensor, int64_t dim) {
    return tensor::DimOp::create(builder, loc, tensor, dim);
  }
  Value either(Value lhs, Value rhs) {
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  }
  Value subtract(Value lhs, Value rhs) {
    return arith::SubIOp::create(builder, loc, lhs, rhs);
  }
  /// The sum of two sizes, which is checked not to wrap.
  Value add(Value lhs, Value rhs);
  SmallVector<Value> values(ArrayRef<OpFoldResult> mixed) {
    return getValueOrCreateConstantIndexOp(builder, loc, mixed);
  }
  Value product(ArrayRef<Value> factors) {
    Value result = index(1);
    for (Value factor : factors)
      result = arith::MulIOp::create(builder, loc, result, factor);
    return result;
  }

  OpBuilder builder;
  Location loc;
};
} // namespace

void OperationAsserter::checkDivision(Value dividend, Value divisor,
                                      bool isSigned) {
  Type type = divisor.getType();
  APInt known;
  bool isKnown = matchPattern(divisor, m_ConstantInt(&known));
  if (!type.isIntOrIndex() ||
      (isKnown && !known.isZero() && !known.isAllOnes()))
    return;
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                  : type.getIntOrFloatBitWidth();
  Value zero = constant(APInt::getZero(width), type);
  check(compare(CmpIPredicate::ne, divisor, zero), "division by zero");
  if (!isSigned)
    return;
  // The quotient that overflows traps as well.
  Value least = constant(APInt::getSignedMinValue(width), type);
  Value minusOne = constant(APInt::getAllOnes(width), type);
  Value fits = arith::OrIOp::create(
      builder, loc, compare(CmpIPredicate::ne, dividend, least),
      compare(CmpIPredicate::ne, divisor, minusOne));
  check(fits, "the quotient is too large for its type");
}

void OperationAsserter::checkSizes(ValueRange sizes, ArrayRef<int64_t> shape) {
  // The most elements, over the sizes seen so far.
  int64_t known = fad::kMaxElements;
  for (int64_t size : shape)
    if (!ShapedType::isDynamic(size))
      known /= std::max<int64_t>(size, 1);
  Value left = index(known);
  for (Value size : sizes) {
    check(compare(CmpIPredicate::sge, size, index(0)), "a size is negative");
    check(compare(CmpIPredicate::ule, size, left),
          "a tensor has too many elements");
    Value factor = arith::MaxUIOp::create(builder, loc, size, index(1));
    left = arith::DivUIOp::create(builder, loc, left, factor);
  }
}

void OperationAsserter::checkExpansion(tensor::ExpandShapeOp op) {
  SmallVector<Value> sizes = values(op.getMixedOutputShape());
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    SmallVector<Value> factors;
    for (int64_t result : group)
      factors.push_back(sizes[result]);
    check(compare(CmpIPredicate::eq, product(factors), size(op.getSrc(), dim)),
          "the sizes of the result have another product than the size that "
          "they expand");
  }
  checkSizes(op.getOutputShape(), op.getResultType().getShape());
}

void OperationAsserter::checkReshape(tensor::ReshapeOp op) {
  auto sourceType = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto shapeType = cast<RankedTensorType>(op.getShape().getType());
  if (!sourceType || shapeType.isDynamicDim(0))
    return;
  SmallVector<Value> before, after;
  for (int64_t dim : llvm::seq(sourceType.getRank()))
    before.push_back(size(op.getSource(), dim));
  for (int64_t dim : llvm::seq(shapeType.getDimSize(0))) {
    Value element =
        tensor::ExtractOp::create(builder, loc, op.getShape(), index(dim));
    after.push_back(getValueOrCreateCastToIndexLike(
        builder, loc, builder.getIndexType(), element));
  }
  checkSizes(after);
  check(compare(CmpIPredicate::eq, product(after), product(before)),
        "the result has another number of elements than the operand");
}

void OperationAsserter::checkSlice(OffsetSizeAndStrideOpInterface slice,
                                   Value whole) {
  Value zero = index(0), one = index(1);
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           values(slice.getMixedOffsets()), values(slice.getMixedSizes()),
           values(slice.getMixedStrides()))) {
    // The last index may wrap, so the test compares the number of steps that
    // fit.
    Value extent = this->size(whole, dim);
    Value isForward = compare(CmpIPredicate::sge, stride, zero);
    Value room = arith::SelectOp::create(
        builder, loc, isForward, subtract(subtract(extent, one), offset),
        offset);
    Value step = arith::SelectOp::create(builder, loc, isForward, stride,
                                         subtract(zero, stride));
    Value steps = arith::DivUIOp::create(
        builder, loc, room, arith::MaxUIOp::create(builder, loc, step, one));
    Value fits = either(compare(CmpIPredicate::ule, subtract(size, one), steps),
                        compare(CmpIPredicate::eq, stride, zero));
    Value inside = arith::AndIOp::create(
        builder, loc, compare(CmpIPredicate::ult, offset, extent), fits);
    check(either(compare(CmpIPredicate::eq, size, zero), inside),
          "the slice is not inside of the tensor");
  }
}

template <typename Op> void OperationAsserter::checkInsertion(Op op) {
  SmallVector<Value> sizes = values(op.getMixedSizes());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t sourceDim = 0;
  for (auto [dim, given] : llvm::enumerate(sizes))
    if (!dropped[dim])
      check(
          compare(CmpIPredicate::eq, given, size(op.getSource(), sourceDim++)),
          "the slice has another size than what is inserted");
  checkSlice(op, op.getDest());
}

Value OperationAsserter::add(Value lhs, Value rhs) {
  Value sum = arith::AddIOp::create(builder, loc, lhs, rhs);
  // The sum wraps if its sign differs from the signs of both operands.
  Value signs = arith::AndIOp::create(
      builder, loc, arith::XOrIOp::create(builder, loc, lhs, sum),
      arith::XOrIOp::create(builder, loc, rhs, sum));
  check(compare(CmpIPredicate::sge, signs, index(0)),
        "a tensor has too many elements");
  return sum;
}

void OperationAsserter::checkPadding(tensor::PadOp op) {
  SmallVector<Value> low = values(op.getMixedLowPad()),
                     high = values(op.getMixedHighPad()), sizes;
  for (auto [dim, known] : llvm::enumerate(op.getResultType().getShape())) {
    uint64_t cutOff = 0;
    for (Value padding : {low[dim], high[dim]}) {
      // fad-normalize rewrites paddings that are known to be negative to
      // slices.
      std::optional<int64_t> constant = getConstantIntValue(padding);
      if (constant && *constant < 0) {
        cutOff = llvm::SaturatingAdd(cutOff, -static_cast<uint64_t>(*constant));
        continue;
      }
      check(compare(CmpIPredicate::sge, padding, index(0)),
            "a size of padding is negative; use tensor.extract_slice to "
            "leave elements out");
    }
    if (cutOff != 0)
      check(compare(CmpIPredicate::sge, size(op.getSource(), dim),
                    index(std::min<uint64_t>(
                        cutOff, std::numeric_limits<int64_t>::max()))),
            "a negative size of padding leaves out more than there is");
    Value padded = add(add(size(op.getSource(), dim), low[dim]), high[dim]);
    if (ShapedType::isDynamic(known))
      sizes.push_back(padded);
    else
      check(compare(CmpIPredicate::eq, padded, index(known)),
            "the result has another size than the padded operand");
  }
  checkSizes(sizes, op.getResultType().getShape());
}

void OperationAsserter::checkConcatenation(tensor::ConcatOp op) {
  ValueRange inputs = op.getInputs();
  SmallVector<Value> sizes;
  for (auto [dim, known] : llvm::enumerate(op.getResultType().getShape())) {
    Value expected = size(inputs.front(), dim);
    for (Value input : inputs.drop_front()) {
      Value given = size(input, dim);
      if (dim == op.getDim())
        expected = add(expected, given);
      else
        check(compare(CmpIPredicate::eq, given, expected),
              "the operands have different sizes");
    }
    if (ShapedType::isDynamic(known))
      sizes.push_back(expected);
    else
      check(compare(CmpIPredicate::eq, expected, index(known)),
            "the result has another size than the operands together");
  }
  checkSizes(sizes, op.getResultType().getShape());
}

void OperationAsserter::checkStep(Value step, bool isUnsigned) {
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(step.getType()));
  CmpIPredicate isGreater =
      isUnsigned ? CmpIPredicate::ugt : CmpIPredicate::sgt;
  // Such a loop would not end.
  check(compare(isGreater, step, zero), "the step of the loop is not positive");
}

/// Whether `expr` never shrinks from one iteration of a loop to the next. Sizes
/// in memory times a factor of `kMaxFactor` do not wrap.
static bool isIncreasing(AffineExpr expr) {
  constexpr int64_t kMaxFactor = 1 << 16;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  // Indexing maps have no symbols, so the right side of an operator other than
  // a sum is constant.
  if (expr.getKind() == AffineExprKind::Add)
    return isIncreasing(binary.getLHS()) && isIncreasing(binary.getRHS());
  int64_t number = cast<AffineConstantExpr>(binary.getRHS()).getValue();
  return expr.getKind() != AffineExprKind::Mod && number >= 0 &&
         number <= kMaxFactor && isIncreasing(binary.getLHS());
}

Value OperationAsserter::tryAll(AffineExpr expr, ArrayRef<Value> loops,
                                Value size, Value isEmpty) {
  SmallVector<unsigned> read;
  for (unsigned position : llvm::seq<unsigned>(loops.size()))
    if (expr.isFunctionOfDim(position))
      read.push_back(position);
  // Indices advance as the digits of a number do, the last one fastest, until
  // the first one is at its end or `expr` is outside.
  Value zero = index(0), one = index(1);
  Value firstEnd =
      arith::SelectOp::create(builder, loc, isEmpty, zero, loops[read.front()]);
  SmallVector<Value> inits(read.size(), zero);
  inits.push_back(arith::ConstantIntOp::create(builder, loc, 1, 1));
  auto isNext = [&](OpBuilder &, Location, ValueRange state) {
    Value isLeft = compare(CmpIPredicate::slt, state.front(), firstEnd);
    scf::ConditionOp::create(
        builder, loc, arith::AndIOp::create(builder, loc, isLeft, state.back()),
        state);
  };
  auto advance = [&](OpBuilder &, Location, ValueRange state) {
    // Loops that `expr` does not read are arbitrary.
    SmallVector<Value> dims(loops), next(state);
    for (auto [position, value] : llvm::zip(read, state))
      dims[position] = value;
    Value value = affine::expandAffineExpr(builder, loc, expr, dims, {});
    // Below 0 is above all sizes.
    next.back() = compare(CmpIPredicate::ult, value, size);
    Value carry = one;
    for (unsigned i = read.size(); i-- > 0;) {
      next[i] = arith::AddIOp::create(builder, loc, state[i], carry);
      if (i == 0)
        break;
      Value wraps = compare(CmpIPredicate::sge, next[i], loops[read[i]]);
      next[i] = arith::SelectOp::create(builder, loc, wraps, zero, next[i]);
      carry = arith::SelectOp::create(builder, loc, wraps, one, zero);
    }
    scf::YieldOp::create(builder, loc, next);
  };
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(ValueRange(inits)),
                                   inits, isNext, advance);
  return loop.getResults().back();
}

void OperationAsserter::checkAccesses(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() ||
      llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
        return llvm::all_of(map.getResults(), isIncreasing);
      }))
    return;
  Value isEmpty = arith::ConstantIntOp::create(builder, loc, 0, 1);
  SmallVector<Value> sizes;
  for (Range loop : op.createLoopRanges(builder, loc)) {
    sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, loop.size));
    isEmpty =
        either(isEmpty, compare(CmpIPredicate::eq, sizes.back(), index(0)));
  }
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (!isIncreasing(expr))
        check(tryAll(expr, sizes, size(operand.get(), dim), isEmpty),
              "these sizes do not fit together: an index of operand #" +
                  std::to_string(operand.getOperandNumber()) +
                  " is outside of dimension #" + std::to_string(dim));
  }
}

void fad::addPaddingAssertions(ModuleOp module) {
  SmallVector<tensor::PadOp> ops;
  module.walk([&](tensor::PadOp op) { ops.push_back(op); });
  for (tensor::PadOp op : ops)
    OperationAsserter(op).checkPadding(op);
}

void fad::addAssertions(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    OperationAsserter asserter(op);
    llvm::TypeSwitch<Operation *>(op)
        .Case<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
              arith::FloorDivSIOp>([&](auto op) {
          asserter.checkDivision(op.getLhs(), op.getRhs(), /*isSigned=*/true);
        })
        .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>([&](auto op) {
          asserter.checkDivision(op.getLhs(), op.getRhs(),
                                 /*isSigned=*/false);
        })
        .Case<tensor::EmptyOp, tensor::SplatOp, bufferization::AllocTensorOp,
              memref::AllocOp, memref::AllocaOp>([&](auto op) {
          asserter.checkSizes(op.getDynamicSizes(), op.getType().getShape());
        })
        .Case([&](tensor::GenerateOp op) {
          asserter.checkSizes(op.getDynamicExtents(),
                              cast<ShapedType>(op.getType()).getShape());
        })
        .Case([&](tensor::ExpandShapeOp op) { asserter.checkExpansion(op); })
        .Case([&](tensor::ReshapeOp op) { asserter.checkReshape(op); })
        .Case([&](tensor::ExtractSliceOp op) {
          asserter.checkSizes(op.getSizes(), op.getStaticSizes());
          asserter.checkSlice(op, op.getSource());
        })
        .Case<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(
            [&](auto op) { asserter.checkInsertion(op); })
        .Case([&](tensor::ConcatOp op) { asserter.checkConcatenation(op); })
        .Case([&](scf::ForOp op) {
          asserter.checkStep(op.getStep(), op.getUnsignedCmp());
        })
        .Case([&](scf::ForallOp op) {
          for (Value step : op.getDynamicStep())
            asserter.checkStep(step, /*isUnsigned=*/false);
        })
        .Case([&](scf::ParallelOp op) {
          for (Value step : op.getStep())
            asserter.checkStep(step, /*isUnsigned=*/false);
        })
        .Case([&](linalg::LinalgOp op) { asserter.checkAccesses(op); });
  }
}
