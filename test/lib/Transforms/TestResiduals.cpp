//===- TestResiduals.cpp - Costs of selections of residuals ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Says, for each joint function of a module, in a remark of JSON, the bytes
// that each policy keeps, and beside those of `auto` the least that there can
// be. Tests of many programs read it.
//
//===----------------------------------------------------------------------===//

#include "../TestPasses.h"
#include "EqualResults.h"
#include "ExhaustiveResiduals.h"
#include "Residuals/Selection/Alternatives.h"
#include "Residuals/Selection/MinCutSelection.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "fad/Transforms/Residuals/Selection/ResidualSelection.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::fad;

static constexpr RecomputeLevel kLevels[] = {
    RecomputeLevel::nothing, RecomputeLevel::elementwise,
    RecomputeLevel::reductions, RecomputeLevel::all};

/// The primal values that backward reads.
static llvm::SetVector<Value> findRead(const JointFunction &joint) {
  DenseSet<Value> known(joint.getCotangents().begin(),
                        joint.getCotangents().end());
  for (Operation *op : joint.getBackward())
    known.insert(op->result_begin(), op->result_end());
  llvm::SetVector<Value> read;
  for (Operation *op : joint.getBackward())
    forEachReadOperand(op, [&](Value operand) {
      if (!known.contains(operand))
        read.insert(operand);
    });
  for (Value gradient : joint.getGradients())
    if (!known.contains(gradient))
      read.insert(gradient);
  return read;
}

/// The values that backward reads where it computes derivatives of elementwise
/// operations itself, as plain reverse mode has it: they cannot be kept.
static SmallVector<Value> findReadByDerivatives(ArrayRef<Value> read) {
  llvm::SetVector<Value> reached(read.begin(), read.end());
  SmallVector<Value> primal;
  for (unsigned next = 0; next < reached.size(); ++next) {
    auto def = reached[next].getDefiningOp<ElementwiseOp>();
    if (!def || !def->hasAttr(FadDialect::kAdjointOfAttr))
      primal.push_back(reached[next]);
    else
      forEachReadOperand(def, [&](Value operand) { reached.insert(operand); });
  }
  return primal;
}

namespace {
/// What a selection keeps.
struct Kept {
  /// Bytes of what is not alive anyway, and is not a size.
  int64_t bytes = 0;
  /// Whether results and gradients are computed as they were before.
  bool equal = false;
};
} // namespace

static void print(llvm::json::OStream &json, StringRef name, Cost cost) {
  json.attributeArray(name, [&] {
    json.value(saturate(cost.bytes));
    json.value(saturate(cost.time));
  });
}

namespace {
struct TestResidualsPass
    : PassWrapper<TestResidualsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestResidualsPass)

  TestResidualsPass() = default;
  TestResidualsPass(const TestResidualsPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-fad-residuals"; }
  StringRef getDescription() const override {
    return "Say what bytes policies keep of each joint function, and the least "
           "that there can be";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<FadDialect, arith::ArithDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      StringRef pair = function.getSymName();
      if (pairs && function->hasAttr(FadDialect::kPullbackAttr)) {
        pair.consume_back("_forward");
        emitRemark(function.getLoc())
            << "{\"function\":\"" << pair
            << "_joint\",\"bytes\":" << countResiduals(function) << "}";
        continue;
      }
      if (!JointFunction::isJoint(function))
        continue;
      std::string line;
      llvm::raw_string_ostream os(line);
      llvm::json::OStream json(os);
      LogicalResult printed = success();
      json.object([&] {
        json.attribute("function", function.getSymName());
        printed = plain              ? printPlain(json, function)
                  : policies.empty() ? printAuto(json, function)
                                     : printPolicies(json, function);
      });
      if (failed(printed))
        return signalPassFailure();
      emitRemark(function.getLoc(), line);
    }
  }

  /// Calls `callback` on a copy of `function`, which it may change.
  LogicalResult
  withCopy(func::FuncOp function,
           llvm::function_ref<LogicalResult(func::FuncOp)> callback) {
    func::FuncOp copy = function.clone();
    copy.setSymName((function.getSymName() + "_copy").str());
    OpBuilder::atBlockEnd(getOperation().getBody()).insert(copy);
    LogicalResult result = callback(copy);
    copy.erase();
    return result;
  }

  SelectionOptions getOptions(RecomputeLevel level) const {
    SelectionOptions options;
    options.recompute = level;
    options.assumedSize = assumedSize;
    return options;
  }

  /// What `policy` keeps of `function`.
  FailureOr<Kept> select(func::FuncOp function, Policy policy,
                         RecomputeLevel level) {
    SelectionOptions options = getOptions(level);
    options.policy = policy;
    OpPassManager pm(func::FuncOp::getOperationName());
    pm.addPass(createFadSelectResiduals(options));
    FailureOr<Kept> kept = failure();
    if (failed(withCopy(function, [&](func::FuncOp copy) {
          if (failed(runPipeline(pm, copy)))
            return failure();
          kept = Kept{countKeptBytes(copy, assumedSize)};
          kept->equal = test::haveEqualResults(copy, function);
          return success();
        })))
      return failure();
    return kept;
  }

  /// What `forward`, of a pair, returns for backward alone.
  int64_t countResiduals(func::FuncOp forward) {
    Operation *terminator = forward.front().getTerminator();
    DenseSet<Value> alive(llvm::from_range, forward.getArguments());
    SmallVector<Value> residuals;
    for (OpOperand &operand : terminator->getOpOperands()) {
      if (forward.getResultAttr(operand.getOperandNumber(),
                                FadDialect::kResidualAttr))
        residuals.push_back(operand.get());
      else
        alive.insert(operand.get());
    }
    SizeSymbols symbols;
    int64_t bytes = 0;
    for (Value residual : residuals)
      if (alive.insert(residual).second && !residual.getType().isIndex())
        bytes += getAssumedBytes(residual, symbols, assumedSize);
    return bytes;
  }

  LogicalResult printPolicies(llvm::json::OStream &json,
                              func::FuncOp function) {
    for (StringRef name : policies) {
      std::optional<Policy> policy = symbolizePolicy(name);
      if (!policy)
        return function.emitError("there is no policy '") << name << "'";
      FailureOr<Kept> kept =
          select(function, *policy, RecomputeLevel::elementwise);
      if (failed(kept))
        return failure();
      json.attribute(name, kept->bytes);
    }
    return success();
  }

  /// What the choice of `auto` costs by its own account; where there are not
  /// too many choices, the least that there can be, with and without a choice
  /// of alternatives.
  LogicalResult printCosts(llvm::json::OStream &json, func::FuncOp function,
                           RecomputeLevel level) {
    FailureOr<JointFunction> joint = JointFunction::get(function);
    if (failed(joint))
      return failure();
    Recomputation recomputation(*joint);
    CostModel costs(recomputation, getOptions(level));
    if (auto least = test::findLeastCost(findRead(*joint).getArrayRef(), costs,
                                         maxStates))
      print(json, "least", *least);
    chooseAlternatives(*joint, costs);
    joint = JointFunction::get(function);
    Recomputation again(*joint);
    CostModel newCosts(again, getOptions(level));
    llvm::SetVector<Value> read = findRead(*joint);
    print(json, "chosen", selectFewestBytes(read.getArrayRef(), newCosts).cost);
    if (auto least =
            test::findLeastCost(read.getArrayRef(), newCosts, maxStates))
      print(json, "cut", *least);
    return success();
  }

  LogicalResult printAuto(llvm::json::OStream &json, func::FuncOp function) {
    for (RecomputeLevel level : kLevels) {
      FailureOr<Kept> kept = select(function, Policy::automatic, level);
      if (failed(kept))
        return failure();
      LogicalResult printed = success();
      json.attributeObject(stringifyRecomputeLevel(level), [&] {
        json.attribute("bytes", kept->bytes);
        json.attribute("equal", kept->equal);
        printed = withCopy(function, [&](func::FuncOp copy) {
          return printCosts(json, copy, level);
        });
      });
      if (failed(printed))
        return failure();
    }
    return success();
  }

  LogicalResult printPlain(llvm::json::OStream &json, func::FuncOp function) {
    FailureOr<JointFunction> joint = JointFunction::get(function);
    if (failed(joint))
      return failure();
    SmallVector<Value> read =
        findReadByDerivatives(findRead(*joint).getArrayRef());
    Recomputation recomputation(*joint);
    for (RecomputeLevel level : kLevels) {
      CostModel costs(recomputation, getOptions(level));
      json.attribute(stringifyRecomputeLevel(level),
                     saturate(selectFewestBytes(read, costs).cost.bytes));
    }
    return success();
  }

  ListOption<std::string> policies{
      *this, "policies",
      llvm::cl::desc("Print the bytes of these instead of those of auto")};
  Option<bool> plain{
      *this, "plain",
      llvm::cl::desc("Print the bytes of a minimum cut in which no derivative "
                     "of an elementwise operation is kept")};
  Option<bool> pairs{
      *this, "pairs",
      llvm::cl::desc("Print the bytes that forward functions keep, after the "
                     "joint functions are split")};
  Option<int64_t> assumedSize{
      *this, "assumed-size",
      llvm::cl::desc("What stands for a size known at run time"),
      llvm::cl::init(128)};
  Option<int64_t> maxStates{
      *this, "max-states",
      llvm::cl::desc("Where the search of all choices gives up"),
      llvm::cl::init(2000)};
};
} // namespace

void fad::test::registerTestResidualsPass() {
  PassRegistration<TestResidualsPass>();
}
