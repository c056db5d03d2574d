//===- Assertions.cpp - Conditions that operations have -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assertions.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace {
/// Asserts conditions of one operation, before it.
class OperationAsserter {
public:
  explicit OperationAsserter(Operation *op) : builder(op), loc(op->getLoc()) {}

  void check(Value condition, StringRef message) {
    cf::AssertOp::create(builder, loc, condition, message);
  }
  void checkDivision(Value dividend, Value divisor, bool isSigned);
  /// Checks the sizes of a tensor that are not known at compile time; `shape`
  /// holds the others.
  void checkSizes(ValueRange sizes, ArrayRef<int64_t> shape = {});
  void checkExpansion(tensor::ExpandShapeOp op);
  void checkReshape(tensor::ReshapeOp op);
  void checkInsertion(tensor::InsertSliceOp op);
  void checkPadding(tensor::PadOp op);
  void checkConcatenation(tensor::ConcatOp op);
  void checkStep(scf::ForOp op);

private:
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
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  }
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
  // The one quotient that is too large traps as well.
  Value least = constant(APInt::getSignedMinValue(width), type);
  Value minusOne = constant(APInt::getAllOnes(width), type);
  Value fits = arith::OrIOp::create(
      builder, loc, compare(CmpIPredicate::ne, dividend, least),
      compare(CmpIPredicate::ne, divisor, minusOne));
  check(fits, "the quotient is too large for its type");
}

void OperationAsserter::checkSizes(ValueRange sizes, ArrayRef<int64_t> shape) {
  // Elements that a buffer can hold before its bytes no longer fit in 64 bits,
  // over the sizes seen so far.
  int64_t known = std::numeric_limits<int64_t>::max() / 16;
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

void OperationAsserter::checkInsertion(tensor::InsertSliceOp op) {
  SmallVector<Value> offsets = values(op.getMixedOffsets()),
                     sizes = values(op.getMixedSizes()),
                     strides = values(op.getMixedStrides());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t sourceDim = 0;
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    if (!dropped[dim])
      check(compare(CmpIPredicate::eq, sizes[dim],
                    size(op.getSource(), sourceDim++)),
            "the slice has another size than what is inserted");
    Value extent = size(op.getDest(), dim);
    Value steps = add(sizes[dim], index(-1));
    Value last =
        add(offset, arith::MulIOp::create(builder, loc, steps, strides[dim]));
    Value inside = arith::AndIOp::create(
        builder, loc, compare(CmpIPredicate::ult, offset, extent),
        compare(CmpIPredicate::ult, last, extent));
    Value isEmpty = compare(CmpIPredicate::eq, sizes[dim], index(0));
    check(arith::OrIOp::create(builder, loc, isEmpty, inside),
          "the slice is not inside of the tensor");
  }
}

void OperationAsserter::checkPadding(tensor::PadOp op) {
  SmallVector<Value> low = values(op.getMixedLowPad()),
                     high = values(op.getMixedHighPad());
  for (auto [dim, known] : llvm::enumerate(op.getResultType().getShape())) {
    int64_t cutOff = 0;
    for (Value padding : {low[dim], high[dim]}) {
      // What is known to be negative is a slice after fad-normalize.
      std::optional<int64_t> constant = getConstantIntValue(padding);
      if (constant && *constant < 0) {
        cutOff -= *constant;
        continue;
      }
      check(compare(CmpIPredicate::sge, padding, index(0)),
            "a size of padding is negative; use tensor.extract_slice to "
            "leave elements out");
    }
    if (cutOff != 0)
      check(compare(CmpIPredicate::sge, size(op.getSource(), dim),
                    index(cutOff)),
            "a negative size of padding leaves out more than there is");
    Value padded = add(size(op.getSource(), dim), add(low[dim], high[dim]));
    if (ShapedType::isDynamic(known))
      checkSizes(padded);
    else
      check(compare(CmpIPredicate::eq, padded, index(known)),
            "the result has another size than the padded operand");
  }
}

void OperationAsserter::checkConcatenation(tensor::ConcatOp op) {
  ValueRange inputs = op.getInputs();
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
    if (!ShapedType::isDynamic(known))
      check(compare(CmpIPredicate::eq, expected, index(known)),
            "the result has another size than the operands together");
  }
}

void OperationAsserter::checkStep(scf::ForOp op) {
  Value step = op.getStep();
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(step.getType()));
  CmpIPredicate isGreater =
      op.getUnsignedCmp() ? CmpIPredicate::ugt : CmpIPredicate::sgt;
  // Such a loop would not end.
  check(compare(isGreater, step, zero), "the step of the loop is not positive");
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
        .Case<tensor::EmptyOp, tensor::SplatOp>([&](auto op) {
          asserter.checkSizes(op.getDynamicSizes(), op.getType().getShape());
        })
        .Case([&](tensor::GenerateOp op) {
          asserter.checkSizes(op.getDynamicExtents(),
                              cast<ShapedType>(op.getType()).getShape());
        })
        .Case([&](tensor::ExpandShapeOp op) { asserter.checkExpansion(op); })
        .Case([&](tensor::ReshapeOp op) { asserter.checkReshape(op); })
        .Case([&](tensor::ExtractSliceOp op) {
          // That a slice is inside of the tensor is checked upstream.
          asserter.checkSizes(op.getSizes(), op.getStaticSizes());
        })
        .Case([&](tensor::InsertSliceOp op) { asserter.checkInsertion(op); })
        .Case([&](tensor::PadOp op) { asserter.checkPadding(op); })
        .Case([&](tensor::ConcatOp op) { asserter.checkConcatenation(op); })
        .Case([&](scf::ForOp op) { asserter.checkStep(op); });
  }
}
