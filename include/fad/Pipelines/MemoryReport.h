//===- MemoryReport.h - What backward needs, and why ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_MEMORYREPORT_H
#define FAD_PIPELINES_MEMORYREPORT_H

#include "fad/Analysis/SizeExpr.h"
#include "fad/Transforms/Residuals/Explanation.h"
#include "fad/Transforms/Residuals/RepeatedWork.h"

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
    return symbols.getSymbols();
  }
  /// Bytes of this report, in terms of its symbols.
  std::string toString(const SizeExpr &expr) const;

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
  ArgumentSizes sizes;
  SizeSymbols symbols;
  std::vector<PolicyReport> policies;
};

/// The name of `kind` in reports.
StringRef stringifyResidualKind(ResidualKind kind);

} // namespace mlir::fad

#endif // FAD_PIPELINES_MEMORYREPORT_H
