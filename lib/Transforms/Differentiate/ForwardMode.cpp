//===- ForwardMode.cpp - Forward mode in scalar blocks --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Differentiate/ForwardMode.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Interfaces/UnregisteredRules.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fad;

void fad::clonePrimals(OpBuilder &builder, Block &from, IRMapping &primals) {
  for (Operation &op : from.without_terminator())
    if (op.getNumResults() != 0 &&
        !llvm::all_of(op.getResults(),
                      [&](Value result) { return primals.contains(result); }))
      builder.clone(op, primals);
}

/// `x`, emitting through `eb` from here on.
static Expr rebind(ExprBuilder &eb, const Expr &x) {
  return x.getValue() ? Expr(eb, x.getValue()) : x;
}

/// The primal value in the type that rules compute in.
static Expr viewPrimal(ExprBuilder &eb, Value value) {
  Expr x(eb, value);
  if (FloatType type = getTangentType(value.getType()))
    return convert(x, type);
  return x;
}

LogicalResult fad::pushforward(OpBuilder &builder, Operation *op,
                               IRMapping &primals, TangentMap &tangents,
                               bool preferResults) {
  if (isa<arith::BitcastOp>(op))
    return op->emitOpError("reinterprets the bits of a differentiated value, "
                           "which has no derivative; compute the value with "
                           "floating-point operations");
  for (Type type : op->getResultTypes())
    if (!isa<IntegerType, IndexType>(type) && !getTangentType(type))
      return op->emitOpError("computes ")
             << type << " from a differentiated value, but only f16, bf16, "
             << "f32 and f64 have derivatives";
  if (llvm::all_of(op->getResultTypes(), llvm::IsaPred<IntegerType, IndexType>))
    return success();
  auto rule = dyn_cast<DerivativeOpInterface>(op);
  if (!rule && emitIfRulesAreUnregistered(op))
    return failure();
  if (!rule)
    return op->emitOpError(
        "has no derivative rule; rewrite it in terms of operations that have "
        "one, or implement fad::DerivativeOpInterface for it");

  auto fastmath = arith::FastMathFlags::none;
  if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op))
    if (arith::FastMathFlagsAttr attr = flags.getFastMathFlagsAttr())
      fastmath = attr.getValue();
  for (OpResult result : op->getResults()) {
    FloatType type = getTangentType(result.getType());
    if (!type)
      continue;
    ExprBuilder eb(builder, op->getLoc(), type, fastmath);
    SmallVector<Expr> operands, results, operandTangents;
    for (Value operand : op->getOperands()) {
      operands.push_back(viewPrimal(eb, primals.lookupOrDefault(operand)));
      operandTangents.push_back(rebind(eb, tangents.lookup(operand)));
    }
    for (Value value : op->getResults())
      results.push_back(viewPrimal(eb, primals.lookupOrDefault(value)));
    Primal at{eb, operands, results};
    Expr tangent = rule.pushforward(at, result.getResultNumber(),
                                    operandTangents, preferResults);
    if (tangent && !tangent.isConstant(0))
      tangents[result] = convert(tangent, type);
  }
  return success();
}

/// The operations of `from` that one of `wanted` depends on.
static llvm::SmallPtrSet<Operation *, 16> findNeeded(Block &from,
                                                     ValueRange wanted) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Value> worklist(wanted);
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (!def || !(def = from.findAncestorOpInBlock(*def)) ||
        !needed.insert(def).second)
      continue;
    def->walk([&](Operation *nested) {
      llvm::append_range(worklist, nested->getOperands());
    });
  }
  return needed;
}

LogicalResult fad::pushforward(OpBuilder &builder, Block &from,
                               IRMapping &primals, TangentMap &tangents,
                               bool preferResults, ValueRange wanted) {
  llvm::SmallPtrSet<Operation *, 16> needed = findNeeded(from, wanted);
  bool valid = true;
  for (Operation &op : from.without_terminator()) {
    if (!wanted.empty() && !needed.contains(&op))
      continue;
    bool varied = false;
    op.walk([&](Operation *nested) {
      varied |= llvm::any_of(nested->getOperands(), [&](Value operand) {
        return bool(tangents.lookup(operand));
      });
    });
    if (!varied ||
        succeeded(pushforward(builder, &op, primals, tangents, preferResults)))
      continue;
    // The walk continues, to report every missing rule.
    valid = false;
    for (Value result : op.getResults())
      if (getTangentType(result.getType()))
        tangents[result] = 1;
  }
  return success(valid);
}

Value fad::materializeTangent(OpBuilder &builder, Location loc,
                              const TangentMap &tangents, Value value,
                              Type type) {
  ExprBuilder eb(builder, loc, type);
  Expr tangent = rebind(eb, tangents.lookup(value));
  return convert(tangent ? tangent : Expr(0), type).materialize(eb, type);
}
