//===- ReverseMode.cpp - Reverse mode over blocks -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReverseMode.h"
#include "fad/Analysis/Entry.h"
#include "fad/IR/Detach.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Interfaces/UnregisteredRules.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

static bool isInteger(Value value) {
  return getElementTypeOrSelf(value).isIntOrIndex();
}

/// Whether integers that `op` computes stand for floating-point values.
static bool reinterpretsBits(Operation *op) {
  auto isBitcast = [](Operation *nested) {
    return isa<arith::BitcastOp, tensor::BitcastOp>(nested)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return op->walk(isBitcast).wasInterrupted();
}

void ReverseMode::findVaried(Operation *op) {
  if (isControlFlow(op))
    return findVaried(cast<RegionBranchOpInterface>(op));
  bool any = false, bits = false;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      if (!isVaried(operand))
        continue;
      any = true;
      bits |= isInteger(operand);
    }
  });
  // Sizes do not depend on elements.
  if (!any || isa<tensor::DimOp, DetachOp>(op))
    return;
  bits |= reinterpretsBits(op);
  // Integers have no tangent; everything else may carry one, and so may the
  // bits of something else.
  for (Value result : op->getResults())
    if (bits || !isInteger(result))
      markVaried(result);
}

void ReverseMode::findVaried(RegionBranchOpInterface op) {
  RegionBranchSuccessorMapping mapping;
  op.getSuccessorOperandInputMapping(mapping);
  // The initial values of an iteration depend on the final values of the last
  // one.
  bool changed = true;
  while (changed) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        findVaried(block);
    changed = false;
    for (auto &[operand, inputs] : mapping)
      if (isVaried(operand->get()))
        for (Value input : inputs)
          changed |= varied.insert(input).second;
  }
}

void ReverseMode::findVaried(Block &block) {
  for (Operation &op : block)
    findVaried(&op);
}

void ReverseMode::notifyOperationErased(Operation *op) {
  for (Value result : op->getResults())
    varied.erase(result);
}

void ReverseMode::notifyBlockErased(Block *block) {
  for (Value argument : block->getArguments())
    varied.erase(argument);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The error for a call on the differentiated path.
static InFlightDiagnostic emitCall(CallOpInterface call) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
  if (!callee)
    return call->emitOpError("calls a function that is not known on the path "
                             "that is differentiated; call it by its name");
  auto diagnostic = call->emitOpError("calls @")
                    << callee.getName()
                    << " on the path that is differentiated; ";
  if (callee.isExternal())
    return std::move(diagnostic)
           << "it has no body: define it in this module, or call it outside of "
              "the function";
  return std::move(diagnostic)
         << "inline the call (fad-nest and --inline do, unless the function "
            "calls itself: write a recursion as scf.for)";
}

/// The first operation in `op`, or `op` itself, that has a buffer as operand or
/// result.
static Operation *findUserOfBuffer(Operation *op) {
  Operation *user = nullptr;
  op->walk<WalkOrder::PreOrder>([&](Operation *nested) {
    auto isBuffer = llvm::IsaPred<BaseMemRefType>;
    if (llvm::none_of(nested->getOperandTypes(), isBuffer) &&
        llvm::none_of(nested->getResultTypes(), isBuffer))
      return WalkResult::advance();
    user = nested;
    return WalkResult::interrupt();
  });
  return user;
}

bool ReverseMode::hasEffectOnPath(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op))
    return false;
  bool onPath = false;
  op->walk([&](Operation *nested) {
    onPath |= llvm::any_of(nested->getOperands(),
                           [&](Value value) { return isVaried(value); });
  });
  if (!onPath || isa<CallOpInterface>(op))
    return onPath;
  // In a body, every value other than an integer may depend on the operands of
  // the operation. Effects of integers, such as an assertion about an index,
  // are not on the path.
  auto hasEffect = [&](Operation *nested) {
    if (nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        nested->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(nested))
      return WalkResult::advance();
    for (Value operand : nested->getOperands())
      if (isVaried(operand) || (nested != op && !isInteger(operand)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  };
  return op->walk(hasEffect).wasInterrupted();
}

LogicalResult ReverseMode::checkEffects(Operation *op) {
  if (isControlFlow(op)) {
    LogicalResult valid = success();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(checkEffects(block)))
          valid = failure();
    return valid;
  }
  bool hasEffect = hasEffectOnPath(op);
  if (auto call = dyn_cast<CallOpInterface>(op); call && hasEffect)
    return emitCall(call);
  Operation *user = findUserOfBuffer(op);
  if (hasEffect) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("has side effects on the path that is differentiated; "
                        "remove it or move it out of the function");
    if (user)
      diagnostic << "; " << kTakesTensors;
    return diagnostic;
  }
  // As far as is known here, no element that is read from a buffer depends on
  // those that were written to it.
  auto isVaried = [&](Value value) { return this->isVaried(value); };
  if (user && !op->hasTrait<OpTrait::IsTerminator>() &&
      llvm::any_of(op->getOperands(), isVaried))
    return user->emitOpError("has a memref on the path that is "
                             "differentiated; ")
           << kTakesTensors;
  return success();
}

LogicalResult ReverseMode::checkEffects(Block &block) {
  bool valid = true;
  for (Operation &op : block)
    valid &= succeeded(checkEffects(&op));
  return success(valid);
}

LogicalResult ReverseMode::checkOperands(Operation *op) {
  for (Value value : op->getOperands())
    if (isVaried(value) && !isDifferentiable(value.getType()))
      return op->emitOpError("reads ")
             << value.getType()
             << " on the path that is differentiated, but only f16, bf16, f32 "
                "and f64, and ranked tensors of them, have gradients";
  return success();
}

//===----------------------------------------------------------------------===//
// Adjoints
//===----------------------------------------------------------------------===//

/// Whether `op` computes scalars from scalars.
static bool isOnScalars(Operation *op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), isScalar) &&
         llvm::all_of(op->getResultTypes(), isScalar);
}

/// Reports that `op` has no reverse rule.
static LogicalResult emitNoRule(Operation *op) {
  if (emitIfRulesAreUnregistered(op))
    return failure();
  if (std::optional<unsigned> tile = findDynamicTile(op))
    return op->emitOpError("has no reverse rule for ") << describeTile(*tile);
  InFlightDiagnostic diagnostic = op->emitOpError("has no reverse rule; ");
  if (isa<scf::ForallOp>(op))
    return diagnostic << "write it as scf.for that carries the tensor, with "
                         "tensor.insert_slice in place of "
                         "tensor.parallel_insert_slice";
  if (isa<scf::ParallelOp>(op))
    return diagnostic << "write it as scf.for that carries what it reduces";
  if (isa<scf::ExecuteRegionOp>(op))
    return diagnostic << "write its blocks with scf.if and scf.while, or, "
                         "where it is one, let --fad-normalize inline it";
  if (isa_and_nonnull<affine::AffineDialect>(op->getDialect()))
    return diagnostic << "write it with scf (--lower-affine does)";
  if (isa<RegionBranchOpInterface, LoopLikeOpInterface>(op))
    return diagnostic << "of control flow, scf.if, scf.index_switch, scf.for "
                         "and scf.while have one: write it with them";
  return diagnostic << "rewrite it in terms of operations that have one, or "
                       "implement fad::AdjointOpInterface for it";
}

LogicalResult ReverseMode::addAdjointOf(Operation *op, ValueRange cotangents) {
  if (failed(checkOperands(op)))
    return failure();
  // Errors that are reported by now.
  if (isa<scf::WhileOp>(op) || (!isControlFlow(op) && hasEffectOnPath(op)))
    return failure();
  if (auto model = dyn_cast<AdjointOpInterface>(op))
    return model.buildAdjoint(*this, cotangents);
  // Adjoints that follow from derivatives of scalars.
  if (auto elementwise = dyn_cast<ElementwiseOp>(op))
    return buildAdjoint(*this, elementwise, cotangents);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return buildAdjoint(*this, structured, cotangents);
  if (isa<DerivativeOpInterface>(op) && isOnScalars(op))
    return buildScalarAdjoint(*this, op, cotangents);
  return emitNoRule(op);
}

void ReverseMode::addPlaceholders(Operation *op) {
  op->walk([&](Operation *nested) {
    for (Value value : nested->getOperands())
      if (isVaried(value) && isDifferentiable(value.getType()) &&
          !op->isAncestor(value.getParentRegion()->getParentOp()) &&
          !table.contains(value))
        table.add(value,
                  UnrealizedConversionCastOp::create(
                      rewriter, op->getLoc(), value.getType(), ValueRange())
                      .getResult(0));
  });
}

/// Moves the insertion point of `builder` to the place of adjoints in `block`.
static void moveToEnd(OpBuilder &builder, Block &block) {
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    builder.setInsertionPoint(&block.back());
  else
    builder.setInsertionPointToEnd(&block);
}

static StringRef describeOp(Operation *op) {
  if (auto elementwise = dyn_cast<ElementwiseOp>(op))
    return describe(elementwise);
  return op->getName().getStringRef();
}

void ReverseMode::finishAdjoint(Operation *start, StringAttr name) {
  for (Operation *op = start->getNextNode(); op; op = op->getNextNode()) {
    if (isControlFlow(op))
      hoistSizes(op);
    if (!isa<tensor::EmptyOp, tensor::DimOp, linalg::FillOp>(op) &&
        !op->hasTrait<OpTrait::IsTerminator>() &&
        !matchPattern(op, m_Constant()))
      op->setAttr(FadDialect::kAdjointOfAttr, name);
  }
}

LogicalResult ReverseMode::visit(Operation *op, Block &block) {
  moveToEnd(rewriter, block);
  SmallVector<Value> cotangents;
  for (Value result : op->getResults())
    cotangents.push_back(table.take(result));
  bool reached = llvm::any_of(cotangents, [](Value v) { return bool(v); });
  if (!reached)
    return success();

  // The adjoint follows this operation. Its construction may replace a loop, so
  // `op` is not used again.
  Operation *start = UnrealizedConversionCastOp::create(
      rewriter, op->getLoc(), TypeRange(), ValueRange());
  StringAttr name = rewriter.getStringAttr(describeOp(op));
  LogicalResult valid = addAdjointOf(op, cotangents);
  if (succeeded(valid)) {
    finishAdjoint(start, name);
  } else {
    moveToEnd(rewriter, block);
    addPlaceholders(op);
  }
  rewriter.eraseOp(start);
  return valid;
}

LogicalResult ReverseMode::differentiate(Block &block) {
  // Every operation without an adjoint is reported, not only the first.
  // Replacements and adjoints come behind the next visited operation.
  bool valid = true;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    valid &= succeeded(visit(&op, block));
  moveToEnd(rewriter, block);
  return success(valid);
}
