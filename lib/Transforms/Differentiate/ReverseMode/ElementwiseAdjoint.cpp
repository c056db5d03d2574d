//===- ElementwiseAdjoint.cpp - Adjoints of scalar operations -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/FiniteValues.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Differentiate/Adjoint.h"
#include "fad/Transforms/Differentiate/ForwardMode.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::fad;

/// Whether a derivative tensor is worthwhile for `op`: its body is a chain, not
/// one operation with a rule of its own.
static bool isChain(ElementwiseOp op) {
  unsigned count = 0;
  for (Operation &inner : op.getBodyBlock()->without_terminator()) {
    if (matchPattern(&inner, m_Constant()))
      continue;
    count += inner.hasTrait<Composite>() ? 2 : 1;
  }
  return count > 1;
}

namespace {
/// Builds the body of one adjoint.
class BodyBuilder {
public:
  BodyBuilder(AdjointBuilder &adjoint, ElementwiseOp op)
      : adjoint(adjoint), op(op), body(std::make_unique<Block>()),
        builder(appendTo(*body, op.getContext())) {}

  /// An argument of the body that stands for the tensor or scalar `value`.
  Value addInput(Value value) {
    inputs.push_back(value);
    Type type = isa<RankedTensorType>(value.getType())
                    ? getElementTypeOrSelf(value)
                    : value.getType();
    return body->addArgument(type, value.getLoc());
  }

  /// Computes the tangents of the yielded values for `results`, with respect to
  /// operand `index`. With `readResults`, yielded values are read from the
  /// results of `op`.
  LogicalResult addTangents(unsigned index, ArrayRef<unsigned> results,
                            bool readResults, bool preferResults) {
    IRMapping primals;
    for (auto [argument, input] :
         llvm::zip(op.getBodyBlock()->getArguments(), op.getInputs()))
      primals.map(argument, addInput(input));
    if (readResults)
      for (auto [yielded, result] :
           llvm::zip(op.getYield().getValues(), op.getResults()))
        if (yielded.getParentBlock() == op.getBodyBlock() &&
            yielded.getDefiningOp() && !primals.contains(yielded) &&
            !matchPattern(yielded, m_Constant()))
          primals.map(yielded, addInput(result));
    clonePrimals(builder, *op.getBodyBlock(), primals);
    tangents[op.getBodyArgument(index)] = 1;
    SmallVector<Value> wanted;
    for (unsigned result : results)
      wanted.push_back(op.getYield().getOperand(result));
    return pushforward(builder, *op.getBodyBlock(), primals, tangents,
                       preferResults, wanted);
  }

  /// Builds the operation, at the insertion point of `adjoint`.
  ElementwiseOp finish(ValueRange yielded) {
    auto shape = cast<RankedTensorType>(op.getShapeOperand().getType());
    SmallVector<Type> types;
    for (Value value : yielded)
      types.push_back(shape.clone(value.getType()));
    ElementwiseOp built = buildElementwise(adjoint.rewriter, op.getLoc(), types,
                                           std::move(body), inputs, yielded);
    simplifyBody(adjoint.rewriter, built);
    return built;
  }

  AdjointBuilder &adjoint;
  ElementwiseOp op;
  std::unique_ptr<Block> body;
  OpBuilder builder;
  SmallVector<Value> inputs;
  TangentMap tangents;
};
} // namespace

/// A cotangent and the derivative that multiplies it, as values in one scalar
/// body; the derivative may be a constant.
using Term = std::pair<Value, Expr>;

/// The sum of the products, rounded to `elementType`.
static Value accumulate(OpBuilder &builder, Location loc, ArrayRef<Term> terms,
                        Type elementType) {
  Type type = getTangentType(elementType);
  ExprBuilder eb(builder, loc, type);
  Expr sum;
  for (auto &[cotangent, derivative] : terms) {
    Expr d = derivative;
    if (Value value = derivative.getValue())
      d = convert(Expr(eb, value), type);
    Expr term = tangentProduct(convert(Expr(eb, cotangent), type), d);
    sum = sum ? sum + term : term;
  }
  return convert(sum, elementType).materialize(eb, elementType);
}

namespace {
/// The derivative of a region's result: a tensor, or a constant if that is
/// null.
struct Derivative {
  Value tensor;
  double constant = 0;
};
} // namespace

/// The type of the terms of the cotangent of `operand`: the cotangent of a
/// scalar operand is their sum, which is rounded at the end.
static Type getTermType(Value operand) {
  if (isa<RankedTensorType>(operand.getType()))
    return getElementTypeOrSelf(operand);
  return getTangentType(operand.getType());
}

/// Computes `yielded`, which `body` holds, right after `after`.
static ElementwiseOp computeDerivatives(BodyBuilder &body, Operation *after,
                                        ValueRange yielded) {
  OpBuilder &builder = body.adjoint.rewriter;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(after);
  ElementwiseOp computed = body.finish(yielded);
  computed->setAttr(FadDialect::kAdjointOfAttr,
                    builder.getStringAttr(describe(body.op)));
  return computed;
}

/// `value`, the tangent of `result`, rounded once, to its type.
static Value roundTangent(BodyBuilder &body, Value result, Value tangent) {
  Type type = getElementTypeOrSelf(result);
  ExprBuilder eb(body.builder, body.op.getLoc(), type);
  return convert(Expr(eb, tangent), type).getValue();
}

/// Adds alternatives to the tensors among `derivatives` if results of `op`
/// determine the derivatives of `results` with respect to operand `index`, so
/// that the operand itself is not needed.
static LogicalResult addAlternatives(AdjointBuilder &adjoint, ElementwiseOp op,
                                     unsigned index, ArrayRef<unsigned> results,
                                     MutableArrayRef<Derivative> derivatives) {
  BodyBuilder body(adjoint, op);
  if (failed(body.addTangents(index, results, /*readResults=*/true,
                              /*preferResults=*/true)))
    return failure();
  SmallVector<Value> yielded;
  Operation *last = op;
  for (auto [result, derivative] : llvm::zip(results, derivatives)) {
    if (!derivative.tensor)
      continue;
    last = derivative.tensor.getDefiningOp();
    Expr tangent = body.tangents.lookup(op.getYield().getOperand(result));
    if (!tangent || tangent.isConstant())
      return success();
    yielded.push_back(
        roundTangent(body, op.getResult(result), tangent.getValue()));
  }
  ElementwiseOp computed = computeDerivatives(body, last, yielded);
  auto isResult = [&](Value input) { return input.getDefiningOp() == op; };
  if (llvm::is_contained(computed.getInputs(), op.getInputs()[index]) ||
      llvm::none_of(computed.getInputs(), isResult)) {
    adjoint.rewriter.eraseOp(computed);
    return success();
  }
  OpBuilder::InsertionGuard guard(adjoint.rewriter);
  adjoint.rewriter.setInsertionPointAfter(computed);
  auto alternative = computed.result_begin();
  for (Derivative &derivative : derivatives)
    if (derivative.tensor)
      derivative.tensor = AlternativesOp::create(
          adjoint.rewriter, op.getLoc(), derivative.tensor.getType(),
          ValueRange{derivative.tensor, *alternative++});
  return success();
}

/// The derivatives of `results` with respect to operand `index`, computed
/// right after `op`.
static FailureOr<SmallVector<Derivative>>
buildDerivatives(AdjointBuilder &adjoint, ElementwiseOp op, unsigned index,
                 ArrayRef<unsigned> results) {
  BodyBuilder body(adjoint, op);
  if (failed(body.addTangents(index, results, /*readResults=*/false,
                              adjoint.prefersResults())))
    return failure();
  llvm::DenseMap<Value, Attribute> constants;
  for (Operation &inner : *body.body)
    (void)foldConstants(&inner, constants);
  SmallVector<Derivative> derivatives;
  SmallVector<Value> yielded;
  for (unsigned result : results) {
    Derivative &derivative = derivatives.emplace_back();
    Expr tangent = body.tangents.lookup(op.getYield().getOperand(result));
    if (auto constant =
            dyn_cast_or_null<FloatAttr>(constants.lookup(tangent.getValue())))
      tangent = constant.getValueAsDouble();
    if (!tangent || tangent.isConstant()) {
      derivative.constant = tangent ? tangent.getConstant() : 0;
      continue;
    }
    yielded.push_back(
        roundTangent(body, op.getResult(result), tangent.getValue()));
    // Marks the derivative until the operation that computes it exists.
    derivative.tensor = yielded.back();
  }
  if (yielded.empty())
    return derivatives;

  ElementwiseOp computed = computeDerivatives(body, op, yielded);
  auto result = computed.result_begin();
  for (Derivative &derivative : derivatives)
    if (derivative.tensor)
      derivative.tensor = *result++;
  if (adjoint.form == DerivativeForm::both &&
      failed(addAlternatives(adjoint, op, index, results, derivatives)))
    return failure();
  return derivatives;
}

/// For each element, the cotangent of operand `index` from the derivatives of
/// `op`.
static FailureOr<Value> multiplyByDerivatives(AdjointBuilder &adjoint,
                                              ElementwiseOp op, unsigned index,
                                              ValueRange cotangents,
                                              ArrayRef<unsigned> results) {
  FailureOr<SmallVector<Derivative>> derivatives =
      buildDerivatives(adjoint, op, index, results);
  if (failed(derivatives))
    return failure();
  BodyBuilder body(adjoint, op);
  SmallVector<Term> terms;
  ExprBuilder eb(body.builder, op.getLoc(), Type());
  for (auto [result, derivative] : llvm::zip(results, *derivatives)) {
    if (!derivative.tensor && derivative.constant == 0)
      continue;
    Value cotangent = body.addInput(cotangents[result]);
    terms.emplace_back(cotangent,
                       derivative.tensor
                           ? Expr(eb, body.addInput(derivative.tensor))
                           : Expr(derivative.constant));
  }
  if (terms.empty())
    return Value();
  Value sum = accumulate(body.builder, op.getLoc(), terms,
                         getTermType(op.getInputs()[index]));
  return body.finish(sum)->getResult(0);
}

/// For each element, the cotangent of operand `index`, its derivatives computed
/// in place.
static FailureOr<Value> differentiateInPlace(AdjointBuilder &adjoint,
                                             ElementwiseOp op, unsigned index,
                                             ValueRange cotangents,
                                             ArrayRef<unsigned> results) {
  BodyBuilder body(adjoint, op);
  // A single operation is differentiated from its result if possible: results
  // are kept more often than operands.
  if (failed(body.addTangents(index, results, /*readResults=*/true,
                              adjoint.prefersResults() || !isChain(op))))
    return failure();
  SmallVector<Term> terms;
  for (unsigned result : results) {
    Expr tangent = body.tangents.lookup(op.getYield().getOperand(result));
    if (tangent && !tangent.isConstant(0))
      terms.emplace_back(body.addInput(cotangents[result]), tangent);
  }
  if (terms.empty())
    return Value();
  Value sum = accumulate(body.builder, op.getLoc(), terms,
                         getTermType(op.getInputs()[index]));
  return body.finish(sum)->getResult(0);
}

LogicalResult fad::buildAdjoint(AdjointBuilder &adjoint, ElementwiseOp op,
                                ValueRange cotangents) {
  SmallVector<unsigned> results, varied;
  for (auto [index, cotangent] : llvm::enumerate(cotangents))
    if (cotangent)
      results.push_back(index);
  for (auto [index, input] : llvm::enumerate(op.getInputs()))
    if (adjoint.isVaried(input))
      varied.push_back(index);

  bool savesDerivatives = varied.size() == 1 &&
                          (isChain(op) || adjoint.form == DerivativeForm::both);
  SmallVector<Value> operands(op.getInputs().size());
  for (unsigned index : varied) {
    FailureOr<Value> cotangent =
        savesDerivatives
            ? multiplyByDerivatives(adjoint, op, index, cotangents, results)
            : differentiateInPlace(adjoint, op, index, cotangents, results);
    if (failed(cotangent))
      return failure();
    operands[index] = *cotangent;
    Type type = op.getInputs()[index].getType();
    if (*cotangent && !isa<RankedTensorType>(type))
      operands[index] =
          sumElements(adjoint.rewriter, op.getLoc(), *cotangent, type);
  }
  adjoint.addCotangents(op.getInputs(), operands);
  return success();
}

//===----------------------------------------------------------------------===//
// Operations on scalars
//===----------------------------------------------------------------------===//

/// The cotangent of `value`, an operand of `op`; null if it is zero.
static FailureOr<Value> buildCotangent(AdjointBuilder &adjoint, Operation *op,
                                       ValueRange cotangents, Value value) {
  IRMapping primals;
  TangentMap tangents;
  tangents[value] = 1;
  if (failed(pushforward(adjoint.rewriter, op, primals, tangents,
                         adjoint.prefersResults())))
    return failure();
  SmallVector<Term> terms;
  for (auto [result, cotangent] :
       llvm::zip_equal(op->getResults(), cotangents)) {
    Expr tangent = tangents.lookup(result);
    if (cotangent && tangent && !tangent.isConstant(0))
      terms.emplace_back(cotangent, tangent);
  }
  if (terms.empty())
    return Value();
  return accumulate(adjoint.rewriter, op->getLoc(), terms, value.getType());
}

LogicalResult fad::buildScalarAdjoint(AdjointBuilder &adjoint, Operation *op,
                                      ValueRange cotangents) {
  SmallVector<Value> operands(op->getNumOperands());
  // Equal operands share one tangent.
  llvm::SmallDenseSet<Value> seen;
  for (auto [operand, cotangent] :
       llvm::zip_equal(op->getOperands(), operands)) {
    if (!adjoint.isVaried(operand) || !seen.insert(operand).second)
      continue;
    FailureOr<Value> built = buildCotangent(adjoint, op, cotangents, operand);
    if (failed(built))
      return failure();
    cotangent = *built;
  }
  adjoint.addCotangents(op->getOperands(), operands);
  return success();
}
