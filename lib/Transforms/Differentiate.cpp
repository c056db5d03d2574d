//===- Differentiate.cpp - Append the adjoint of a function ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Entry.h"
#include "fad/Interfaces/PullbackOpInterface.h"
#include "fad/Transforms/Adjoint.h"
#include "fad/Transforms/ElementwiseUtils.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADDIFFERENTIATE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
/// What is asked for: the arguments to differentiate with respect to, the
/// results to differentiate, and whether that is every result.
struct Request {
  SmallVector<unsigned> wrt, results;
  bool everyResult;
};

/// Reverse mode over the one block of a function.
class ReverseMode {
public:
  ReverseMode(func::FuncOp function, const Request &request, bool preferResults)
      : function(function), request(request), rewriter(function.getContext()),
        preferResults(preferResults) {}

  LogicalResult run();

private:
  /// Fails, with an error, where the function as a whole cannot be
  /// differentiated.
  LogicalResult checkFunction();
  /// Finds the values that depend on an argument in `wrt`.
  void findVaried();
  /// Fails where a result that is differentiated for want of a choice depends
  /// on an argument in `wrt` but cannot have a cotangent.
  LogicalResult checkResults();
  /// Fails where an operation on the path has a side effect.
  LogicalResult checkEffects(Operation *op);
  /// Fails where the body of `op` reads, other than through an operand of
  /// `op`, a value that has a gradient.
  LogicalResult checkCaptures(Operation *op);
  /// Adds an argument for the cotangent of each differentiated result.
  void addCotangents();
  LogicalResult visit(Operation *op);
  FailureOr<Cotangents> buildAdjointOf(Operation *op, ValueRange cotangents);
  /// Adds `cotangent` to that of `value`.
  void accumulate(Value value, Value cotangent);
  /// Returns the gradients after the results.
  void addGradients();

  func::FuncOp function;
  const Request &request;
  IRRewriter rewriter;
  bool preferResults;
  DenseSet<Value> varied;
  DenseMap<Value, Value> cotangentOf;
};
} // namespace

LogicalResult ReverseMode::checkFunction() {
  if (!function.getBody().hasOneBlock())
    return function.emitError("cannot differentiate @")
           << function.getSymName()
           << ": it has several blocks; express its control flow with scf or "
              "inline it first";
  if (!isa<func::ReturnOp>(function.front().getTerminator()))
    return function.front().getTerminator()->emitOpError(
        "ends the function that is differentiated; only func.return can");
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isa<UnrankedTensorType>(type))
      return emitError(function.getArgument(index).getLoc())
             << "argument " << index << " is the unranked tensor " << type
             << "; give it a rank, with '?' for sizes that are not known";
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (isa<FloatType>(type))
      return function.emitError("result ")
             << index << " is the scalar " << type
             << ", which has no cotangent; return a rank-0 tensor instead";
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (function.getArgAttr(index, FadDialect::kCotangentAttr))
      return emitError(function.getArgument(index).getLoc())
             << "argument " << index
             << " is a cotangent already; differentiating a joint or backward "
                "function again is not supported: remove its "
             << FadDialect::kCotangentAttr
             << " attributes to treat it as an "
                "ordinary function";
  return success();
}

/// Whether integers that `op` computes stand for floating-point values.
static bool reinterpretsBits(Operation &op) {
  auto isBitcast = [](Operation *nested) {
    return isa<arith::BitcastOp, tensor::BitcastOp>(nested)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return op.walk(isBitcast).wasInterrupted();
}

void ReverseMode::findVaried() {
  for (unsigned index : request.wrt)
    varied.insert(function.getArgument(index));
  auto isInteger = [](Value value) {
    return getElementTypeOrSelf(value).isIntOrIndex();
  };
  for (Operation &op : function.front()) {
    bool any = false, bits = false;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        if (!varied.contains(operand))
          continue;
        any = true;
        bits |= isInteger(operand);
      }
    });
    // A size does not change when elements do.
    if (!any || isa<tensor::DimOp>(op))
      continue;
    bits |= reinterpretsBits(op);
    // Integers have no tangent; everything else may carry one, and so may the
    // bits of something else.
    for (Value result : op.getResults())
      if (bits || !isInteger(result))
        varied.insert(result);
  }
}

LogicalResult ReverseMode::checkResults() {
  if (!request.everyResult)
    return success();
  for (auto [index, value] :
       llvm::enumerate(function.front().getTerminator()->getOperands())) {
    Type type = value.getType();
    if (!varied.contains(value) || isDifferentiable(type) ||
        getElementTypeOrSelf(type).isIntOrIndex())
      continue;
    return function.emitError("result ")
           << index << " is " << type
           << " and depends on what is differentiated, but only ranked tensors "
              "of f16, bf16, f32 and f64 have cotangents; convert it to one, "
              "remove it, or list the results to differentiate in 'results'";
  }
  return success();
}

LogicalResult ReverseMode::checkEffects(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op))
    return success();
  bool onPath = false;
  op->walk([&](Operation *nested) {
    onPath |= llvm::any_of(nested->getOperands(),
                           [&](Value v) { return varied.contains(v); });
  });
  if (!onPath)
    return success();
  return op->emitOpError("has side effects on the path that is "
                         "differentiated; ")
         << (isa<CallOpInterface>(op)
                 ? "inline the call first (--inline)"
                 : "remove it or move it out of the function");
}

void ReverseMode::addCotangents() {
  Operation *terminator = function.front().getTerminator();
  for (unsigned index : request.results) {
    Value value = terminator->getOperand(index);
    unsigned position = function.getNumArguments();
    NamedAttrList attributes;
    attributes.set(FadDialect::kCotangentAttr,
                   rewriter.getI64IntegerAttr(index));
    (void)function.insertArgument(
        position, value.getType(),
        attributes.getDictionary(function.getContext()), value.getLoc());
    if (varied.contains(value))
      accumulate(value, function.getArgument(position));
  }
}

void ReverseMode::accumulate(Value value, Value cotangent) {
  Value &sum = cotangentOf[value];
  if (!sum) {
    sum = cotangent;
    return;
  }
  sum = ElementwiseOp::create(rewriter, value.getLoc(),
                              ValueRange{sum, cotangent},
                              [](OpBuilder &b, Location loc, ValueRange terms) {
                                return SmallVector<Value>{arith::AddFOp::create(
                                    b, loc, terms[0], terms[1])};
                              })
            ->getResult(0);
}

LogicalResult ReverseMode::checkCaptures(Operation *op) {
  LogicalResult valid = success();
  for (Region &region : op->getRegions())
    visitUsedValuesDefinedAbove(region, region, [&](OpOperand *operand) {
      if (succeeded(valid) && varied.contains(operand->get()))
        valid = operand->getOwner()->emitOpError("reads ")
                << operand->get().getType()
                << " on the path that is differentiated from inside '"
                << op->getName()
                << "', which has reverse rules for its operands only; make it "
                   "an operand";
    });
  return valid;
}

FailureOr<Cotangents> ReverseMode::buildAdjointOf(Operation *op,
                                                  ValueRange cotangents) {
  auto isVaried = [&](Value value) { return varied.contains(value); };
  AdjointBuilder adjoint{rewriter, isVaried, preferResults};
  if (auto elementwise = dyn_cast<ElementwiseOp>(op))
    return buildAdjoint(adjoint, elementwise, cotangents);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  auto rule = dyn_cast<PullbackOpInterface>(op);
  if (!structured && !rule)
    return op->emitOpError("has no reverse rule; rewrite it in terms of "
                           "operations that have one, or implement "
                           "fad::PullbackOpInterface for it"),
           failure();
  if (failed(checkCaptures(op)))
    return failure();
  if (structured)
    return buildAdjoint(adjoint, structured, cotangents);
  Cotangents operands(op->getNumOperands());
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    if (!isVaried(operand))
      continue;
    FailureOr<Value> cotangent = rule.pullback(rewriter, cotangents, index);
    if (failed(cotangent))
      return failure();
    operands[index] = *cotangent;
  }
  return operands;
}

LogicalResult ReverseMode::visit(Operation *op) {
  Cotangents cotangents;
  for (Value result : op->getResults())
    cotangents.push_back(cotangentOf.lookup(result));
  bool reached = llvm::any_of(cotangents, [](Value v) { return bool(v); });
  if (!reached)
    return success();
  for (Value value : op->getOperands())
    if (varied.contains(value) && !isDifferentiable(value.getType()))
      return op->emitOpError("reads ")
             << value.getType()
             << " on the path that is differentiated, but only ranked tensors "
                "of f16, bf16, f32 and f64 have gradients";

  Operation *terminator = function.front().getTerminator();
  rewriter.setInsertionPoint(terminator);
  Operation *last = terminator->getPrevNode();
  std::string name = op->getName().getStringRef().str();
  if (auto elementwise = dyn_cast<ElementwiseOp>(op))
    name = describe(elementwise).str();
  FailureOr<Cotangents> operands = buildAdjointOf(op, cotangents);
  if (failed(operands))
    return failure();
  for (Operation *added = last->getNextNode(); added != terminator;
       added = added->getNextNode())
    if (!isa<tensor::EmptyOp, tensor::DimOp, linalg::FillOp>(added) &&
        !matchPattern(added, m_Constant()))
      added->setAttr(FadDialect::kAdjointOfAttr, rewriter.getStringAttr(name));
  for (auto [operand, cotangent] : llvm::zip(op->getOperands(), *operands))
    if (cotangent)
      accumulate(operand, cotangent);
  return success();
}

void ReverseMode::addGradients() {
  Operation *terminator = function.front().getTerminator();
  rewriter.setInsertionPoint(terminator);
  SmallVector<Value> results(terminator->getOperands());
  for (unsigned index : request.wrt) {
    Value argument = function.getArgument(index);
    Value gradient = cotangentOf.lookup(argument);
    if (!gradient) {
      // No result depends on the argument.
      Location loc = argument.getLoc();
      auto type = cast<RankedTensorType>(argument.getType());
      Value empty = tensor::EmptyOp::create(
          rewriter, loc, tensor::getMixedSizes(rewriter, loc, argument),
          type.getElementType());
      Value zero = arith::ConstantOp::create(
          rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
      gradient =
          linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
      if (gradient.getType() != type)
        gradient = tensor::CastOp::create(rewriter, loc, type, gradient);
    }
    NamedAttrList attributes;
    attributes.set(FadDialect::kGradientAttr,
                   rewriter.getI64IntegerAttr(index));
    (void)function.insertResult(
        function.getNumResults(), gradient.getType(),
        attributes.getDictionary(function.getContext()));
    results.push_back(gradient);
  }
  terminator->setOperands(results);
}

LogicalResult ReverseMode::run() {
  if (failed(checkFunction()))
    return failure();
  findVaried();
  SmallVector<Operation *> primal;
  bool valid = succeeded(checkResults());
  for (Operation &op : function.front().without_terminator()) {
    primal.push_back(&op);
    valid &= succeeded(checkEffects(&op));
  }
  if (!valid)
    return failure();
  rewriter.setInsertionPoint(function.front().getTerminator());
  addCotangents();
  // Every operation that cannot be differentiated is reported, not the first.
  for (Operation *op : llvm::reverse(primal))
    valid &= succeeded(visit(op));
  if (!valid)
    return failure();
  addGradients();
  eraseDeadOps(function.front());
  return success();
}

namespace {
struct FadDifferentiatePass
    : fad::impl::FadDifferentiateBase<FadDifferentiatePass> {
  using FadDifferentiateBase::FadDifferentiateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> function = findEntry(module, entry);
    if (failed(function))
      return signalPassFailure();
    FailureOr<SmallVector<unsigned>> arguments = resolveWrt(*function, wrt);
    if (failed(arguments))
      return signalPassFailure();
    FailureOr<SmallVector<unsigned>> differentiated =
        resolveResults(*function, results);
    if (failed(differentiated) || failed(checkNames(module, *function)))
      return signalPassFailure();
    // Elementwise operations on tensors have their scalar body made explicit.
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    if (failed(applyPatternsGreedily(*function, std::move(patterns))))
      return signalPassFailure();
    Request request{*arguments, *differentiated,
                    !listsResults(*function, results)};
    if (failed(ReverseMode(*function, request, preferResults).run()))
      return signalPassFailure();
    (*function)->removeAttr(FadDialect::kRequestAttr);
    function->setSymName(getJointName(*function));
  }

  static std::string getJointName(func::FuncOp function) {
    return (function.getSymName() + "_joint").str();
  }

  /// Fails where `@f` cannot become `@f_joint`.
  static LogicalResult checkNames(ModuleOp module, func::FuncOp function) {
    std::string name = getJointName(function);
    if (!SymbolTable::symbolKnownUseEmpty(function, module))
      return function.emitError("cannot differentiate @")
             << function.getSymName()
             << " in place: other operations refer to it; differentiate a "
                "copy, or inline the calls first (--inline)";
    if (SymbolTable::lookupSymbolIn(module, name))
      return function.emitError("cannot create @")
             << name << ": the module has a symbol of that name; rename it";
    return success();
  }
};
} // namespace
