//===- MarkJoint.cpp - Attributes of a joint function ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Seed.h"
#include "fad/Analysis/Entry.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADMARKJOINT
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Marks one function.
class Marker {
public:
  Marker(func::FuncOp function, const FadMarkJointOptions &options)
      : function(function), options(options) {}

  LogicalResult run();

private:
  /// Fails, with an error, if the function cannot be a joint function.
  LogicalResult checkFunction();
  /// Fails unless `numbers`, the option `name`, is a list of different numbers
  /// below `count`, the number of `what`.
  LogicalResult checkNumbers(ArrayRef<int64_t> numbers, StringRef name,
                             unsigned count, StringRef what);
  /// Finds the results that depend on a cotangent, and compares them with the
  /// listed ones.
  LogicalResult findGradients();
  /// The counterpart of each of `marked`: `listed`, the option `option`, or, if
  /// that is empty, all of `candidates` in order.
  FailureOr<SmallVector<int64_t>> match(ArrayRef<int64_t> marked,
                                        ArrayRef<int64_t> listed,
                                        ArrayRef<int64_t> candidates,
                                        StringRef option, StringRef what,
                                        StringRef of);
  LogicalResult markCotangents();
  LogicalResult markGradients();
  Value getResult(int64_t number) {
    return function.front().getTerminator()->getOperand(number);
  }
  SmallVector<int64_t> getOthers(unsigned count, ArrayRef<int64_t> numbers) {
    return llvm::filter_to_vector(llvm::seq<int64_t>(0, count), [&](int64_t i) {
      return !llvm::is_contained(numbers, i);
    });
  }

  func::FuncOp function;
  const FadMarkJointOptions &options;
  SmallVector<int64_t> cotangents, gradients;
};
} // namespace

LogicalResult Marker::checkFunction() {
  if (!function.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(function.front().getTerminator()))
    return function.emitError("@")
           << function.getSymName()
           << " cannot be a joint function: its body is not one block that "
              "ends with func.return; express its control flow with scf";
  for (unsigned index : llvm::seq(function.getNumArguments()))
    if (function.getArgAttr(index, FadDialect::kCotangentAttr))
      return emitError(function.getArgument(index).getLoc())
             << "argument " << index << " is marked with "
             << FadDialect::kCotangentAttr
             << " already; leave out 'cotangents' and 'gradients'";
  return success();
}

LogicalResult Marker::checkNumbers(ArrayRef<int64_t> numbers, StringRef name,
                                   unsigned count, StringRef what) {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t number : numbers) {
    if (number < 0 || number >= count)
      return function.emitError("'")
             << name << "' lists " << number << ", but @"
             << function.getSymName() << " has " << count << " " << what;
    if (!seen.insert(number).second)
      return function.emitError("'")
             << name << "' lists " << number << " twice";
  }
  return success();
}

LogicalResult Marker::findGradients() {
  auto values = llvm::map_to_vector(cotangents, [&](int64_t number) -> Value {
    return function.getArgument(number);
  });
  DenseSet<Value> dependent(llvm::from_range, values);
  for (Operation *op : findDependent(function.front(), values))
    dependent.insert(op->result_begin(), op->result_end());
  for (int64_t number : llvm::seq<int64_t>(0, function.getNumResults())) {
    bool listed = llvm::is_contained(gradients, number);
    bool depends = dependent.contains(getResult(number));
    if (options.gradients.empty() && depends)
      gradients.push_back(number);
    else if (depends && !listed)
      return emitError(getResult(number).getLoc())
             << "result " << number << " of @" << function.getSymName()
             << " depends on a cotangent, but is not listed in 'gradients'; "
                "list it, or leave out 'gradients' to take all that depend on "
                "one";
  }
  if (gradients.empty())
    return function.emitError("no result of @")
           << function.getSymName()
           << " depends on an argument that 'cotangents' lists, so there is no "
              "gradient; list the arguments that backward starts from";
  return success();
}

FailureOr<SmallVector<int64_t>> Marker::match(ArrayRef<int64_t> marked,
                                              ArrayRef<int64_t> listed,
                                              ArrayRef<int64_t> candidates,
                                              StringRef option, StringRef what,
                                              StringRef of) {
  if (listed.empty() && candidates.size() == marked.size())
    return SmallVector<int64_t>(candidates);
  if (listed.size() != marked.size())
    return function.emitError("@")
           << function.getSymName() << " has " << marked.size() << " " << what
           << " for " << candidates.size() << " " << of << "; list in '"
           << option << "' which one each of the " << marked.size()
           << " belongs to";
  return SmallVector<int64_t>(listed);
}

LogicalResult Marker::markCotangents() {
  SmallVector<int64_t> primal = getOthers(function.getNumResults(), gradients);
  SmallVector<int64_t> candidates =
      llvm::filter_to_vector(primal, [&](int64_t number) {
        return isDifferentiable(getResult(number).getType());
      });
  FailureOr<SmallVector<int64_t>> results =
      match(cotangents, options.cotangentsOf, candidates, "cotangents-of",
            "cotangents", "results of floating point that are no gradients");
  if (failed(results))
    return failure();
  Builder builder(function.getContext());
  for (auto [cotangent, result] : llvm::zip_equal(cotangents, *results)) {
    auto *it = llvm::find(primal, result);
    Value argument = function.getArgument(cotangent);
    if (it == primal.end())
      return function.emitError("result ")
             << result << " is a gradient, and has no cotangent; list another "
             << "one in 'cotangents-of'";
    if (argument.getType() != getResult(result).getType() &&
        (failed(verifyCompatibleShape(argument.getType(),
                                      getResult(result).getType())) ||
         getElementTypeOrSelf(argument) !=
             getElementTypeOrSelf(getResult(result))))
      return emitError(argument.getLoc())
             << "argument " << cotangent << " of type " << argument.getType()
             << " cannot be the cotangent of result " << result << " of type "
             << getResult(result).getType()
             << "; list in 'cotangents-of' which result each belongs to";
    function.setArgAttr(
        cotangent, FadDialect::kCotangentAttr,
        builder.getI64IntegerAttr(std::distance(primal.begin(), it)));
  }
  return success();
}

LogicalResult Marker::markGradients() {
  SmallVector<int64_t> primal =
      getOthers(function.getNumArguments(), cotangents);
  SmallVector<int64_t> candidates =
      llvm::filter_to_vector(primal, [&](int64_t number) {
        return isDifferentiable(function.getArgument(number).getType());
      });
  FailureOr<SmallVector<int64_t>> arguments =
      match(gradients, options.gradientsOf, candidates, "gradients-of",
            "gradients", "arguments of floating point that are no cotangents");
  if (failed(arguments))
    return failure();
  Builder builder(function.getContext());
  for (auto [gradient, argument] : llvm::zip_equal(gradients, *arguments)) {
    auto *it = llvm::find(primal, argument);
    if (it == primal.end())
      return emitError(function.getArgument(argument).getLoc())
             << "argument " << argument << " is a cotangent, and has no "
             << "gradient; list another one in 'gradients-of'";
    Type from = function.getArgument(argument).getType();
    Type type = getResult(gradient).getType();
    if (from != type && failed(verifyCompatibleShape(from, type)))
      return emitError(getResult(gradient).getLoc())
             << "result " << gradient << " of type " << type
             << " cannot be the gradient of argument " << argument
             << " of type " << from
             << "; list in 'gradients-of' which argument each belongs to";
    function.setResultAttr(
        gradient, FadDialect::kGradientAttr,
        builder.getI64IntegerAttr(std::distance(primal.begin(), it)));
  }
  return success();
}

LogicalResult Marker::run() {
  cotangents = SmallVector<int64_t>(options.cotangents);
  gradients = SmallVector<int64_t>(options.gradients);
  if (failed(checkFunction()) ||
      failed(checkNumbers(cotangents, "cotangents", function.getNumArguments(),
                          "arguments")) ||
      failed(checkNumbers(gradients, "gradients", function.getNumResults(),
                          "results")) ||
      failed(checkNumbers(options.cotangentsOf, "cotangents-of",
                          function.getNumResults(), "results")) ||
      failed(checkNumbers(options.gradientsOf, "gradients-of",
                          function.getNumArguments(), "arguments")))
    return failure();
  if (cotangents.empty()) {
    FailureOr<unsigned> seed = addCotangent(function, gradients);
    if (failed(seed))
      return failure();
    cotangents.push_back(*seed);
  }
  if (failed(findGradients()))
    return failure();
  return success(succeeded(markCotangents()) && succeeded(markGradients()));
}

namespace {
struct FadMarkJointPass : fad::impl::FadMarkJointBase<FadMarkJointPass> {
  using FadMarkJointBase::FadMarkJointBase;

  void runOnOperation() override {
    FadMarkJointOptions options{entry, {}, {}, {}, {}};
    auto copy = [](SmallVector<int64_t> &to, auto &from) {
      to.assign(from.begin(), from.end());
    };
    copy(options.cotangents, cotangents);
    copy(options.gradients, gradients);
    copy(options.cotangentsOf, cotangentsOf);
    copy(options.gradientsOf, gradientsOf);
    if (options.cotangents.empty() && options.gradients.empty()) {
      if (!options.cotangentsOf.empty() || !options.gradientsOf.empty()) {
        getOperation().emitError("'cotangents-of' and 'gradients-of' go with "
                                 "'cotangents' or 'gradients', which list what "
                                 "they are about");
        signalPassFailure();
      }
      markAllAnalysesPreserved();
      return;
    }
    FailureOr<func::FuncOp> function = findEntry(getOperation(), entry);
    if (failed(function) || failed(Marker(*function, options).run()))
      return signalPassFailure();
  }
};
} // namespace
