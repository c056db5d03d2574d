//===- ReductionAdjoint.cpp - Adjoints of maxima and products -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReductionAdjoint.h"
#include "LinalgAdjoint.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

using Kind = Reduction::Kind;

namespace {
/// A value that the iterations combine, and its init.
struct Accumulated {
  Accumulated(Value value, arith::AtomicRMWKind kind, TypedAttr init)
      : value(value), kind(kind), init(init) {}
  /// Begins with the neutral element.
  Accumulated(OpBuilder &builder, Value value, arith::AtomicRMWKind kind)
      : Accumulated(value, kind,
                    arith::getIdentityValueAttr(kind, value.getType(), builder,
                                                value.getLoc())) {}

  Value value;
  arith::AtomicRMWKind kind;
  TypedAttr init;
};
} // namespace

/// Drops the operands that the body ignores, unless they are needed for the
/// extent of a loop.
static void dropOperands(ScalarBody &body, AffineMap resultMap) {
  for (unsigned index = body.operands.size(); index-- > 0;) {
    if (!body.block->getArgument(index).use_empty())
      continue;
    SmallVector<AffineMap> others = body.maps;
    others[index] = resultMap;
    if (!inversePermutation(concatAffineMaps(others, resultMap.getContext())))
      continue;
    body.block->eraseArgument(index);
    body.operands.erase(body.operands.begin() + index);
    body.maps.erase(body.maps.begin() + index);
  }
}

/// Combines `values`, which the block of `body` computes, over all iterations
/// into tensors of the shape of result `result`.
static SmallVector<Value> reduce(RewriterBase &rewriter,
                                 const StructuredPrimal &primal,
                                 unsigned result, ScalarBody body,
                                 ArrayRef<Accumulated> values) {
  LinalgOp op = primal.op;
  Location loc = op.getLoc();
  AffineMap map = primal.getResultMap(result);
  SmallVector<Value> kept;
  for (const Accumulated &accumulated : values)
    kept.push_back(accumulated.value);
  eraseDeadOps(*body.block, kept);
  dropOperands(body, map);

  OpBuilder inside = appendTo(*body.block, op.getContext());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, primal.cotangents[result]);
  SmallVector<Value> inits, sums;
  for (const Accumulated &accumulated : values) {
    Type type = accumulated.value.getType();
    Value init = arith::ConstantOp::create(rewriter, loc, accumulated.init);
    Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, type);
    inits.push_back(FillOp::create(rewriter, loc, init, empty).getResult(0));
    body.maps.push_back(map);
    Value out = body.block->addArgument(type, loc);
    sums.push_back(arith::getReductionOp(accumulated.kind, inside, loc, out,
                                         accumulated.value));
  }
  linalg::YieldOp::create(inside, loc, sums);
  auto generic = GenericOp::create(rewriter, loc, TypeRange(ValueRange(inits)),
                                   body.operands, inits, body.maps,
                                   op.getIteratorTypesArray());
  generic.getRegion().getBlocks().clear();
  generic.getRegion().push_back(body.block.release());
  return generic.getResults();
}

/// Whether `a` and `b` are equal, or both NaN.
static Expr areSame(const Expr &a, const Expr &b) {
  return equal(a, b) | (isNaN(a) & isNaN(b));
}

/// An elementwise operation on `inputs`, floats in type `type`.
static Operation *
mapElements(RewriterBase &rewriter, Location loc, ValueRange inputs, Type type,
            function_ref<SmallVector<Expr>(ArrayRef<Expr>)> body) {
  return fad::ElementwiseOp::create(
      rewriter, loc, inputs,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        ExprBuilder eb(builder, loc, type);
        SmallVector<Expr> elements;
        for (Value argument : arguments)
          elements.push_back(isa<FloatType>(argument.getType())
                                 ? convert(Expr(eb, argument), type)
                                 : Expr(eb, argument));
        SmallVector<Value> results;
        for (const Expr &expr : body(elements))
          results.push_back(expr.materialize(eb, type));
        return results;
      });
}

/// The position in `window` of the iteration that the block of `body` is for.
static Value getPosition(ImplicitLocOpBuilder &b,
                         ArrayRef<std::pair<unsigned, int64_t>> window) {
  Value position;
  for (auto [loop, extent] : window) {
    Value index = IndexOp::create(b, loop);
    if (position) {
      Value size = arith::ConstantIndexOp::create(b, extent);
      index = arith::AddIOp::create(b, arith::MulIOp::create(b, position, size),
                                    index);
    }
    position = index;
  }
  return arith::IndexCastUIOp::create(b, b.getI8Type(), position);
}

/// The number of elements of `window`.
static int64_t getSize(ArrayRef<std::pair<unsigned, int64_t>> window) {
  int64_t size = 1;
  for (auto [loop, extent] : window)
    size *= extent;
  return size;
}

static TypedAttr getCode(Builder &builder, int64_t position) {
  return builder.getIntegerAttr(builder.getI8Type(), APInt(8, position));
}

Expr ReductionAdjoint::isTaken(ExprBuilder &eb, const StructuredPrimal &primal,
                               ScalarBody &body,
                               const IRMapping &primals) const {
  AffineMap map = primal.getResultMap(result);
  if (position) {
    Value taken = body.addOperand(position, map);
    return Expr(eb, arith::CmpIOp::create(eb.b, arith::CmpIPredicate::eq, taken,
                                          getPosition(eb.b, reduction.window)));
  }
  Expr isPosition;
  if (reduction.taken) {
    Value taken = body.addOperand(reduction.taken, map);
    Value position = primals.lookupOrDefault(reduction.position);
    isPosition = Expr(eb, arith::CmpIOp::create(eb.b, arith::CmpIPredicate::eq,
                                                position, taken));
    // Else the index may be one that the operation began with.
    if (reduction.hasNeutralInit)
      return isPosition;
  }
  LinalgOp op = primal.op;
  Expr term(eb, primals.lookupOrDefault(reduction.term));
  Expr best(eb, body.addOperand(op->getResult(result), map));
  return isPosition ? isPosition & equal(term, best) : areSame(term, best);
}

Value ReductionAdjoint::emitCount(RewriterBase &rewriter,
                                  const StructuredPrimal &primal) const {
  ScalarBody body;
  IRMapping primals = clonePrimalBody(primal, body);
  OpBuilder inside = appendTo(*body.block, rewriter.getContext());
  Type type = getTangentType(reduction.term.getType());
  LinalgOp op = primal.op;
  ExprBuilder eb(inside, op.getLoc(), type);
  Expr one = select(isTaken(eb, primal, body, primals), 1, 0);
  Accumulated count(rewriter, one.getValue(), arith::AtomicRMWKind::addf);
  return reduce(rewriter, primal, result, std::move(body), count).front();
}

Value ReductionAdjoint::emitPosition(RewriterBase &rewriter,
                                     const StructuredPrimal &primal) const {
  LinalgOp op = primal.op;
  ScalarBody body;
  IRMapping primals = clonePrimalBody(primal, body);
  OpBuilder inside = appendTo(*body.block, rewriter.getContext());
  ExprBuilder eb(inside, op.getLoc(), getTangentType(reduction.term.getType()));
  Expr equals = isTaken(eb, primal, body, primals);
  int64_t size = getSize(reduction.window);
  Value none = arith::ConstantOp::create(eb.b, getCode(eb.b, size));
  Value candidate = arith::SelectOp::create(
      eb.b, equals.getValue(), getPosition(eb.b, reduction.window), none);
  // With a neutral init, some term equals the result.
  Accumulated first(candidate, arith::AtomicRMWKind::minu,
                    getCode(eb.b, size - reduction.hasNeutralInit));
  return reduce(rewriter, primal, result, std::move(body), first).front();
}

void ReductionAdjoint::emitShare(RewriterBase &rewriter,
                                 const StructuredPrimal &primal) {
  Value cotangent = primal.cotangents[result];
  if (!reduction.window.empty())
    position = emitPosition(rewriter, primal);
  if (reduction.taken || position) {
    weights = {cotangent};
    return;
  }
  LinalgOp op = primal.op;
  SmallVector<Value> inputs = {cotangent, emitCount(rewriter, primal)};
  if (!reduction.hasNeutralInit)
    llvm::append_values(inputs, op.getDpsInits()[result],
                        op->getResult(result));
  Type type = getTangentType(reduction.term.getType());
  weights =
      mapElements(rewriter, op.getLoc(), inputs, type, [&](ArrayRef<Expr> in) {
        Expr count = in[1];
        if (!reduction.hasNeutralInit)
          count = count + select(areSame(in[2], in[3]), 1, 0);
        return SmallVector<Expr>{in[0] / count};
      })->getResults();
}

/// The type in which factors are multiplied and divided again: the product of
/// all factors may overflow or underflow in their type although that of all but
/// one does not.
static Type getProductType(MLIRContext *context) {
  return Float64Type::get(context);
}

void ReductionAdjoint::emitProducts(RewriterBase &rewriter,
                                    const StructuredPrimal &primal) {
  LinalgOp op = primal.op;
  Type type = getProductType(op.getContext());
  ScalarBody body;
  IRMapping primals = clonePrimalBody(primal, body);
  OpBuilder inside = appendTo(*body.block, op.getContext());
  ExprBuilder eb(inside, op.getLoc(), type);
  Expr term = convert(Expr(eb, primals.lookupOrDefault(reduction.term)), type);
  Expr isZero = equal(term, 0);
  Value factor = select(isZero, 1, term).getValue();
  Value zero = select(isZero, 1, 0).getValue();
  SmallVector<Value> inputs = {primal.cotangents[result],
                               op->getResult(result)};
  // The product of all factors other than zero, and the number of zeros.
  llvm::append_range(inputs,
                     reduce(rewriter, primal, result, std::move(body),
                            {{rewriter, factor, arith::AtomicRMWKind::mulf},
                             {rewriter, zero, arith::AtomicRMWKind::addf}}));
  if (!reduction.hasNeutralInit)
    inputs.push_back(op.getDpsInits()[result]);
  weights =
      mapElements(rewriter, op.getLoc(), inputs, type, [&](ArrayRef<Expr> in) {
        Expr product = in[2], zeros = in[3];
        if (!reduction.hasNeutralInit) {
          Expr isZero = equal(in[4], 0);
          product = product * select(isZero, 1, in[4]);
          zeros = zeros + select(isZero, 1, 0);
        }
        Expr all = in[0] * in[1], others = in[0] * product;
        return SmallVector<Expr>{select(equal(zeros, 0), others, all),
                                 select(equal(zeros, 1), others, all)};
      })->getResults();
}

void ReductionAdjoint::emitWeights(RewriterBase &rewriter,
                                   const StructuredPrimal &primal) {
  if (reduction.kind == Kind::Product)
    emitProducts(rewriter, primal);
  else
    emitShare(rewriter, primal);
}

/// The cotangent of a factor.
static Expr divide(const Expr &factor, const Expr &product,
                   const Expr &forZero) {
  return select(equal(factor, 0), forZero, product / factor);
}

Expr ReductionAdjoint::getTermCotangent(ExprBuilder &eb,
                                        const StructuredPrimal &primal,
                                        ScalarBody &body,
                                        const IRMapping &primals) const {
  Type type = reduction.kind == Kind::Product
                  ? getProductType(reduction.term.getContext())
                  : getTangentType(reduction.term.getType());
  SmallVector<Expr> elements;
  for (Value weight : weights)
    elements.push_back(convert(
        Expr(eb, body.addOperand(weight, primal.getResultMap(result))), type));
  if (reduction.kind != Kind::Product)
    return select(isTaken(eb, primal, body, primals), elements[0], 0);
  Expr term = convert(Expr(eb, primals.lookupOrDefault(reduction.term)), type);
  return divide(term, elements[0], elements[1]);
}

Value ReductionAdjoint::emitInitCotangent(
    RewriterBase &rewriter, const StructuredPrimal &primal) const {
  LinalgOp op = primal.op;
  Value init = op.getDpsInits()[result];
  SmallVector<Value> inputs;
  if (reduction.kind == Kind::Product)
    inputs = {init, weights[0], weights[1]};
  else if (reduction.taken)
    inputs = {weights[0], emitCount(rewriter, primal)};
  else if (position)
    inputs = {weights[0], position};
  else
    inputs = {init, op->getResult(result), weights[0]};
  Type elementType = getElementTypeOrSelf(init);
  Type type = reduction.kind == Kind::Product ? getProductType(op.getContext())
                                              : getTangentType(elementType);
  auto isBeyond = [&](const Expr &taken) {
    ImplicitLocOpBuilder &b = taken.getBuilder()->b;
    Value none =
        arith::ConstantOp::create(b, getCode(b, getSize(reduction.window)));
    return Expr(*taken.getBuilder(),
                arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                      taken.getValue(), none));
  };
  return mapElements(rewriter, op.getLoc(), inputs, type,
                     [&](ArrayRef<Expr> in) {
                       Expr share;
                       if (reduction.kind == Kind::Product)
                         share = divide(in[0], in[1], in[2]);
                       else if (reduction.taken)
                         share = select(equal(in[1], 0), in[0], 0);
                       else if (position)
                         share = select(isBeyond(in[1]), in[0], 0);
                       else
                         share = select(areSame(in[0], in[1]), in[2], 0);
                       return SmallVector<Expr>{convert(share, elementType)};
                     })
      ->getResult(0);
}
