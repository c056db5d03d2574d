//===- Differentiate.cpp - Reverse mode between operations ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReverseMode/ResultAlternatives.h"
#include "ReverseMode/ReverseMode.h"
#include "fad/Analysis/Entry.h"
#include "fad/IR/Detach.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "fad/Transforms/Utils/SmoothSums.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADDIFFERENTIATE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The request: the arguments to differentiate with respect to, the results to
/// differentiate, and whether these are all results.
struct Request {
  SmallVector<unsigned> wrt, results;
  bool everyResult;
};

/// Turns a function into its joint function.
class FunctionDifferentiator {
public:
  FunctionDifferentiator(func::FuncOp function, const Request &request,
                         DerivativeForm form)
      : function(function), request(request), form(form),
        rewriter(function.getContext()), mode(rewriter, form) {}

  LogicalResult run();

private:
  /// Fails, with an error, if the function as a whole has no derivative.
  LogicalResult checkFunction();
  /// Fails if attributes say that the function is a part of a differentiated
  /// one.
  LogicalResult checkMarks();
  /// Fails if a result that is differentiated by default depends on an argument
  /// in `wrt` but cannot have a cotangent.
  LogicalResult checkResults();
  /// Adds an argument for the cotangent of each differentiated result.
  void addCotangents();
  /// Returns the gradients after the results.
  void addGradients();

  func::FuncOp function;
  const Request &request;
  DerivativeForm form;
  IRRewriter rewriter;
  ReverseMode mode;
};
} // namespace

/// The error for such attributes.
static constexpr StringLiteral kMarkedAlready(
    ", as functions are that were differentiated before; remove the mark to "
    "treat it as an ordinary function");

LogicalResult FunctionDifferentiator::checkMarks() {
  for (StringRef mark : {FadDialect::kResidualAttr, FadDialect::kGradientAttr,
                         FadDialect::kCotangentAttr}) {
    for (unsigned index : llvm::seq(function.getNumArguments()))
      if (function.getArgAttr(index, mark))
        return emitError(function.getArgument(index).getLoc())
               << "argument " << index << " is marked with " << mark
               << kMarkedAlready;
    for (unsigned index : llvm::seq(function.getNumResults()))
      if (function.getResultAttr(index, mark))
        return function.emitError("result ")
               << index << " is marked with " << mark << kMarkedAlready;
  }
  return success();
}

LogicalResult FunctionDifferentiator::checkFunction() {
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
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (function.getArgAttr(index, FadDialect::kCotangentAttr))
      return emitError(function.getArgument(index).getLoc())
             << "argument " << index
             << " is a cotangent already; differentiating a joint or backward "
                "function again is not supported: remove its "
             << FadDialect::kCotangentAttr
             << " attributes to treat it as an "
                "ordinary function";
  return checkMarks();
}

LogicalResult FunctionDifferentiator::checkResults() {
  if (!request.everyResult)
    return success();
  for (auto [index, value] :
       llvm::enumerate(function.front().getTerminator()->getOperands())) {
    Type type = value.getType();
    if (!mode.isVaried(value) || isDifferentiable(type) ||
        getElementTypeOrSelf(type).isIntOrIndex())
      continue;
    return function.emitError("result ")
           << index << " is " << type
           << " and depends on what is differentiated, but only f16, bf16, f32 "
              "and f64, and ranked tensors of them, have cotangents; convert "
              "it "
              "to one, remove it, or list the results to differentiate in "
              "'results'";
  }
  return success();
}

/// The attributes `name = index` of cotangents or gradients, one for each
/// index.
static SmallVector<DictionaryAttr> getMarks(Builder &builder, StringRef name,
                                            ArrayRef<unsigned> indices) {
  return llvm::map_to_vector(indices, [&](unsigned index) {
    return builder.getDictionaryAttr(
        builder.getNamedAttr(name, builder.getI64IntegerAttr(index)));
  });
}

// Arguments and results are added all at once: one at a time makes a type of
// the function for each.
void FunctionDifferentiator::addCotangents() {
  Operation *terminator = function.front().getTerminator();
  SmallVector<Value> values;
  SmallVector<Location> locations;
  for (unsigned index : request.results) {
    values.push_back(terminator->getOperand(index));
    locations.push_back(values.back().getLoc());
  }
  unsigned first = function.getNumArguments();
  (void)function.insertArguments(
      SmallVector<unsigned>(values.size(), first),
      TypeRange(ValueRange(values)),
      getMarks(rewriter, FadDialect::kCotangentAttr, request.results),
      locations);
  for (auto [value, cotangent] :
       llvm::zip_equal(values, function.getArguments().drop_front(first)))
    if (mode.isVaried(value))
      mode.addCotangent(value, cotangent);
}

void FunctionDifferentiator::addGradients() {
  Operation *terminator = function.front().getTerminator();
  SmallVector<Value> gradients;
  for (unsigned index : request.wrt) {
    Value argument = function.getArgument(index);
    Value gradient = mode.takeCotangent(argument);
    // No result depends on the argument.
    if (!gradient)
      gradient = makeZerosLike(rewriter, argument.getLoc(), argument);
    gradients.push_back(gradient);
  }
  (void)function.insertResults(
      SmallVector<unsigned>(gradients.size(), function.getNumResults()),
      TypeRange(ValueRange(gradients)),
      getMarks(rewriter, FadDialect::kGradientAttr, request.wrt));
  SmallVector<Value> results(terminator->getOperands());
  llvm::append_range(results, gradients);
  terminator->setOperands(results);
}

LogicalResult FunctionDifferentiator::run() {
  if (failed(checkFunction()))
    return failure();
  Block &block = function.front();
  if (form == DerivativeForm::both)
    exposeIntermediates(rewriter, block);
  for (unsigned index : request.wrt)
    mode.markVaried(function.getArgument(index));
  mode.findVaried(block);
  // Everything that keeps the function from being differentiated is reported,
  // not the first.
  bool valid = succeeded(checkResults());
  valid &= succeeded(mode.checkEffects(block));
  valid &= succeeded(mode.boundLoops(block));
  mode.passScalars(block);
  rewriter.setInsertionPoint(block.getTerminator());
  addCotangents();
  valid &= succeeded(mode.differentiate(block));
  if (!valid)
    return failure();
  if (form == DerivativeForm::both)
    addResultAlternatives(rewriter, block);
  addGradients();
  (void)runRegionDCE(rewriter, function->getRegions());
  function->walk([&](DetachOp op) { rewriter.replaceOp(op, op.getOperand()); });
  return success();
}

namespace {
struct FadDifferentiatePass
    : fad::impl::FadDifferentiateBase<FadDifferentiatePass> {
  using FadDifferentiateBase::FadDifferentiateBase;
  FadDifferentiatePass(const FadDifferentiateOptions &options, bool leavesJoint)
      : FadDifferentiateBase(options), leavesJoint(leavesJoint) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> function = findEntry(module, entry);
    if (failed(function))
      return signalPassFailure();
    if (leavesJoint && JointFunction::isJoint(*function)) {
      if (failed(adoptJoint(module, *function)))
        return signalPassFailure();
      return;
    }
    FailureOr<SmallVector<unsigned>> arguments = resolveWrt(*function, wrt);
    if (failed(arguments))
      return signalPassFailure();
    FailureOr<SmallVector<unsigned>> differentiated =
        resolveResults(*function, results);
    if (failed(differentiated))
      return signalPassFailure();
    dropPullback(module, *function);
    if (failed(checkNames(module, *function)))
      return signalPassFailure();
    // An adjoint of another program is primal in this one.
    function->walk([](Operation *op) {
      op->removeDiscardableAttr(FadDialect::kAdjointOfAttr);
    });
    RewritePatternSet smoothSums(&getContext());
    populateSmoothSumPatterns(smoothSums);
    walkAndApplyPatterns(*function, std::move(smoothSums));
    // Elementwise operations on tensors have their scalar body made explicit.
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    walkAndApplyPatterns(*function, std::move(patterns));
    Request request{*arguments, *differentiated,
                    !listsResults(*function, results)};
    if (failed(
            FunctionDifferentiator(*function, request, derivativesFrom).run()))
      return signalPassFailure();
    (*function)->removeAttr(FadDialect::kRequestAttr);
    function->setSymName(getJointName(function->getSymName()));
  }

  /// Names `function`, which is a joint function, like one that was made here.
  LogicalResult adoptJoint(ModuleOp module, func::FuncOp function) {
    for (auto &[name, numbers] :
         {std::pair<StringRef, ArrayRef<int64_t>>{"wrt", wrt},
          {"results", results}})
      if (!numbers.empty())
        return function.emitError("@")
               << function.getSymName()
               << " is differentiated already: its marks say with respect to "
                  "what; leave out '"
               << name << "'";
    dropPullback(module, function);
    if (failed(checkNames(module, function)))
      return failure();
    function->removeAttr(FadDialect::kRequestAttr);
    function.setSymName(getJointName(function.getSymName()));
    return success();
  }

  /// Removes the marks that `function`, which gets another name, is a pullback.
  static void dropPullback(ModuleOp module, func::FuncOp function) {
    for (auto forward : module.getOps<func::FuncOp>())
      if (forward->getAttr(FadDialect::kPullbackAttr) ==
          FlatSymbolRefAttr::get(function))
        forward->removeAttr(FadDialect::kPullbackAttr);
  }

  /// Fails if the name `@f_joint` is taken, or if `@f` is referred to.
  static LogicalResult checkNames(ModuleOp module, func::FuncOp function) {
    std::string name = getJointName(function.getSymName());
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

  bool leavesJoint = false;
};
} // namespace

std::unique_ptr<Pass>
fad::createFadDifferentiate(const FadDifferentiateOptions &options,
                            bool leavesJoint) {
  return std::make_unique<FadDifferentiatePass>(options, leavesJoint);
}
