//===- TestResiduals.cpp - What selections of residuals cost --------------===//
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
#include "Residuals/Alternatives.h"
#include "Residuals/CostModel.h"
#include "Residuals/LeastResiduals.h"
#include "Residuals/Recomputation.h"
#include "fad/Transforms/JointFunction.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

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
  /// Bytes of what is not alive anyway.
  int64_t bytes = 0;
  /// Those of them that are of sizes, which no policy chooses.
  int64_t sizes = 0;
  /// Whether results and gradients are computed as they were before.
  bool equal = false;
};
} // namespace

static void print(llvm::json::OStream &json, StringRef name, Cost cost) {
  json.attributeArray(name, [&] {
    json.value(cost.bytes);
    json.value(cost.time);
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

  /// What `policy` keeps of `function`.
  FailureOr<Kept> select(func::FuncOp function, Policy policy,
                         RecomputeLevel level) {
    FadSelectResidualsOptions options;
    options.policy = policy;
    options.recompute = level;
    options.assumedSize = assumedSize;
    OpPassManager pm(func::FuncOp::getOperationName());
    pm.addPass(createFadSelectResiduals(options));
    FailureOr<Kept> kept = failure();
    if (failed(withCopy(function, [&](func::FuncOp copy) {
          if (failed(runPipeline(pm, copy)) || failed(kept = count(copy)))
            return failure();
          kept->equal = test::haveEqualResults(copy, function);
          return success();
        })))
      return failure();
    return kept;
  }

  std::optional<int64_t> getBytes(Value value, SizeSymbols &symbols) {
    // The size of packed numbers is not a sum of products.
    auto pack = value.getDefiningOp<PackOp>();
    std::optional<SizeExpr> bytes =
        getValueBytes(pack ? pack.getCodes() : value, symbols);
    if (!bytes)
      return std::nullopt;
    SizeExpr assumed = bytes->substitute(
        [&](unsigned) -> std::optional<uint64_t> { return assumedSize; });
    int64_t number = *assumed.getConstant();
    return pack ? llvm::divideCeil(number * pack.getBits(), 8) : number;
  }

  FailureOr<Kept> count(func::FuncOp selected) {
    FailureOr<JointFunction> joint = JointFunction::get(selected);
    if (failed(joint))
      return failure();
    SizeSymbols symbols;
    DenseSet<Value> alive(joint->getArguments().begin(),
                          joint->getArguments().end());
    alive.insert(joint->getResults().begin(), joint->getResults().end());
    Kept kept;
    for (auto residual :
         llvm::to_vector(selected.front().getOps<ResidualOp>())) {
      if (!alive.insert(residual.getValue()).second)
        continue;
      std::optional<int64_t> bytes = getBytes(residual.getValue(), symbols);
      if (!bytes)
        return residual.emitError("has a type of no known size"), failure();
      kept.bytes += *bytes;
      if (residual.getReason() == "size")
        kept.sizes += *bytes;
    }
    return kept;
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
      json.attribute(name, kept->bytes - kept->sizes);
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
    CostModel costs(recomputation, level, assumedSize);
    if (auto least = test::findLeastCost(findRead(*joint).getArrayRef(), costs,
                                         maxStates))
      print(json, "least", *least);
    chooseAlternatives(*joint, costs);
    joint = JointFunction::get(function);
    Recomputation again(*joint);
    CostModel newCosts(again, level, assumedSize);
    llvm::SetVector<Value> read = findRead(*joint);
    print(json, "chosen",
          findLeastResiduals(read.getArrayRef(), newCosts).cost);
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
        json.attribute("bytes", kept->bytes - kept->sizes);
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
      CostModel costs(recomputation, level, assumedSize);
      json.attribute(stringifyRecomputeLevel(level),
                     findLeastResiduals(read, costs).cost.bytes);
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
