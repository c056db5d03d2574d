//===- MemoryReport.h - Values that backward needs, and why -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_MEMORYREPORT_H
#define FAD_PIPELINES_MEMORYREPORT_H

#include "fad/Analysis/SizeExpr.h"
#include "fad/Transforms/Residuals/Explanation/Explanation.h"
#include "fad/Transforms/Residuals/Explanation/RepeatedWork.h"
#include "fad/Transforms/Residuals/Selection/ResidualSelection.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fad {

/// A value of the forward part, described for reports.
struct ValueInfo {
  Type type;
  SizeExpr bytes;
  /// The operation that computes the value; empty for an argument.
  std::string operation;
  /// The location of the operation, such as `file:line:column`; empty if
  /// unknown.
  std::string location;
};

/// A value that crosses from forward to backward.
struct ResidualInfo : ValueInfo {
  ResidualKind kind;
  /// Bits an element, where these are fewer than those of its type; else 0.
  int64_t bits = 0;
  /// The largest and the mean-square error of the derivative that backward
  /// computes from the value, if that is not exact.
  std::optional<double> largestError, meanSquareError;
  /// The primal operations whose adjoints read the value.
  SmallVector<std::string> neededBy;
  /// The rule that keeps the value, in a word or two.
  std::string reason;
  /// The reason against computing it again, if the policy compares the two.
  std::string because;
  /// Whether backward may not repeat the operation that computes the value.
  bool isRefused = false;
  /// The lowest level of recomputation that lets backward repeat it.
  std::optional<RecomputeLevel> allowedBy;
  /// The values to keep if backward computed this one again.
  std::vector<ValueInfo> insteadOf;
  /// The number of contractions before the value, the one that computes it
  /// included.
  unsigned layer = 0;
  /// Whether the adjoint of an activation function reads it.
  bool isOfActivation = false;
};

/// An operation of the backward function that computes something without a
/// cotangent; `bytes` are those of its results that depend on no cotangent.
struct RecomputedInfo : ValueInfo {
  /// The estimated time of that, as the bytes that memory moves in that time.
  uint64_t time = 0;
};

/// The memory of a training step at its peak, in bytes.
struct Footprint {
  /// Residuals that adjoints of activation functions read, and the other ones.
  uint64_t activations = 0, others = 0;
  /// Arguments that get a gradient and are independent of the batch, and the
  /// other arguments.
  uint64_t weights = 0, inputs = 0;
  /// The state of the optimizer for the weights.
  uint64_t optimizer = 0;
  /// Gradients, cotangents, results, and temporary tensors.
  uint64_t workspace = 0;

  /// The sum, saturated at 2^64 - 1.
  uint64_t getTotal() const;
};

/// The largest batch within a budget.
struct BatchLimit {
  /// The largest batch that fits; 0 if none does, `nullopt` if all do.
  std::optional<uint64_t> largest;
  /// The footprint of the largest batch or, if that is 0, of a batch of 1.
  uint64_t bytes = 0;
};

/// The residuals of one policy.
struct PolicyReport {
  Policy policy;
  std::vector<ResidualInfo> residuals;
  std::vector<RecomputedInfo> recomputed;
  SizeExpr total;
  /// The estimated time of all work of backward without a cotangent, as the
  /// bytes that memory moves in that time.
  uint64_t recomputeTime = 0;
  /// The most bytes of tensors that forward and backward have at once. Unknown
  /// where sizes are unknown; the same holds for the footprint.
  std::optional<uint64_t> peak;
  std::optional<Footprint> footprint;
  std::optional<BatchLimit> batch;
};

/// Sizes for the dynamic dimensions of arguments.
struct ArgumentSizes {
  /// By argument and dimension.
  std::map<std::pair<unsigned, unsigned>, uint64_t> ofDims;
  /// The size of dimensions that `ofDims` lacks.
  std::optional<uint64_t> others;

  std::optional<uint64_t> lookup(const SizeSymbols::Symbol &symbol) const;
};

/// The bytes of values, in terms of the sizes that are not given.
struct ValueSizes {
  explicit ValueSizes(ArgumentSizes given) : given(std::move(given)) {}

  /// The bytes that `value` takes; empty if its type does not tell.
  std::optional<SizeExpr> getBytes(Value value);
  std::string toString(const SizeExpr &expr) const;

  ArgumentSizes given;
  SizeSymbols symbols;
};

/// The form of a table.
struct TableOptions {
  /// One line for all equal values of a policy, with their number.
  bool group = false;
  /// A column for source locations.
  bool locations = false;
};

/// The values that cross from forward to backward, for several policies on one
/// function.
class MemoryReport {
public:
  /// A report on the function `entry`.
  MemoryReport(StringRef entry, ArgumentSizes sizes)
      : entry(entry), sizes(std::move(sizes)) {}

  /// Adds the residuals of `joint`, a joint function whose residuals have been
  /// selected with `options`. Emits an error for a value whose bytes are
  /// unknown. May insert operations without effect into `joint`.
  FailureOr<PolicyReport *> add(func::FuncOp joint,
                                const SelectionOptions &options);

  /// Adds to `report`, the last one, what `backward` computes without a
  /// cotangent. The two functions are the last form of those of the policy, so
  /// that equal programs take equal times.
  LogicalResult addRepeated(PolicyReport &report, func::FuncOp forward,
                            func::FuncOp backward,
                            const SelectionOptions &options);

  StringRef getEntry() const { return entry; }
  ArrayRef<PolicyReport> getPolicies() const { return policies; }
  ArrayRef<SizeSymbols::Symbol> getSymbols() const {
    return sizes.symbols.getSymbols();
  }
  /// Bytes of this report, in terms of its symbols.
  std::string toString(const SizeExpr &expr) const {
    return sizes.toString(expr);
  }

  /// One table of all policies.
  void printTable(raw_ostream &os, const TableOptions &options = {}) const;
  /// The same as a JSON object; a size that is not a number is a string.
  void printJSON(raw_ostream &os) const;

private:
  FailureOr<SizeExpr> getBytes(Value value, Operation *reader);
  FailureOr<ValueInfo> describe(Value value, Operation *reader);
  FailureOr<ResidualInfo> describe(const KeptValue &kept);
  FailureOr<RecomputedInfo> describe(const RepeatedWork &work);
  void printLegend(raw_ostream &os) const;
  void printSummary(raw_ostream &os) const;
  void printFootprints(raw_ostream &os) const;

  std::string entry;
  ValueSizes sizes;
  std::vector<PolicyReport> policies;
};

/// Optimizers, by their state for each weight, in f32, or f64 for weights in
/// f64.
enum class Optimizer {
  /// No state.
  none,
  sgd,
  /// One number a weight.
  momentum,
  /// Two numbers a weight.
  adam
};
std::optional<Optimizer> symbolizeOptimizer(StringRef name);

/// A request for a report: the options of `fad-nest`, but several policies.
struct ReportRequest {
  std::string entry;
  SmallVector<int64_t> wrt, results;
  SmallVector<Policy> policies = {Policy::bp, Policy::recompute, Policy::fad,
                                  Policy::automatic};
  /// The options of `auto`. Other policies have its target and assumed size,
  /// which is `sizes.others` where that is given, unless `hasAssumedSize` is
  /// set.
  SelectionOptions selection;
  bool hasAssumedSize = false;
  ArgumentSizes sizes;
  /// The optimizer of the footprint.
  Optimizer optimizer = Optimizer::none;
  /// The budget for the largest batch. The batch is the first dimension of
  /// arguments where that is dynamic, except for those in `sizes.ofDims`.
  /// Without such a dimension, `batch` is the number of samples of the
  /// function, and all tensors grow with it but weights and tensors made for
  /// weights.
  std::optional<uint64_t> memoryBudget;
  uint64_t batch = 1;
  /// For a picture: whether it has one node for all equal residuals, in place
  /// of all operations. Without a choice, that of a large function has.
  std::optional<bool> summarizePicture;
};

/// A report on the values that cross from forward to backward of a function of
/// `module`, which stays as it is. Emits an error on failure.
FailureOr<MemoryReport> reportMemory(ModuleOp module,
                                     const ReportRequest &request);

/// The selections of the policy `auto` for budgets between the least time and
/// the fewest bytes.
struct TimeMemoryCurve {
  std::string entry;
  SmallVector<TimeMemoryPoint> points;
  /// The size of dynamic dimensions; `nullopt` if arguments have none.
  std::optional<int64_t> assumedSize;

  /// Prints a table, a point a line.
  void print(raw_ostream &os) const;
};

/// The curve of a function of `module`, which stays as it is, under the options
/// of `request` for `auto`. Emits an error on failure.
FailureOr<TimeMemoryCurve> measureCurve(ModuleOp module,
                                        const ReportRequest &request);

/// Draws the function, in the language of Graphviz, with the residuals that the
/// only policy of `request` selects: forward on one side, backward on the
/// other, and the residuals between them. A large function is summarized, with
/// one node for all equal residuals. Emits an error on failure.
LogicalResult drawResiduals(ModuleOp module, const ReportRequest &request,
                            raw_ostream &os);

/// The name of `kind` in reports.
StringRef stringifyResidualKind(ResidualKind kind);

} // namespace mlir::fad

#endif // FAD_PIPELINES_MEMORYREPORT_H
