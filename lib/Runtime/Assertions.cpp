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
  SmallVector<Value> sizes =
      getValueOrCreateConstantIndexOp(builder, loc, op.getMixedOutputShape());
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
        .Case([&](tensor::ReshapeOp op) { asserter.checkReshape(op); });
  }
}
