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

namespace mlir::fad {

/// A value of the forward part, as reports name it.
struct ValueInfo {
  Type type;
  SizeExpr bytes;
  /// The operation that computes it; empty for an argument.
  std::string operation;
  /// Where that is, such as `file:line:column`; empty where nothing says so.
  std::string location;
};

/// A value that crosses from forward to backward.
struct ResidualInfo : ValueInfo {
  ResidualKind kind;
  /// Bits an element, where these are fewer than those of its type; else 0.
  int64_t bits = 0;
  /// How far off the derivative is that backward gets from it, at most and in
  /// the mean square, where that is not exact.
  std::optional<double> largestError, meanSquareError;
  /// The primal operations whose adjoints read it.
  SmallVector<std::string> neededBy;
  /// In a word or two, by what rule it is kept.
  std::string reason;
  /// Why it is kept rather than computed again, where that was weighed.
  std::string because;
  /// Whether the operation that computes it may not be executed again.
  bool isRefused = false;
  /// The lowest level of recomputation that would allow it.
  std::optional<RecomputeLevel> allowedBy;
  /// What would have to be kept if it were computed again.
  std::vector<ValueInfo> insteadOf;
  /// How many contractions come before it, the one that computes it included.
  unsigned layer = 0;
  /// Whether the adjoint of an activation function reads it.
  bool isOfActivation = false;
};

/// An operation that backward executes again; `bytes` are those of its results.
struct RecomputedInfo : ValueInfo {
  /// Its estimated time, in bytes that could be moved meanwhile.
  uint64_t time = 0;
};

/// What a training step has in memory when it has most, in bytes.
struct Footprint {
  /// Residuals that adjoints of activation functions read, and other ones.
  uint64_t activations = 0, others = 0;
  /// Arguments that get a gradient and do not depend on the batch, and the
  /// other arguments.
  uint64_t weights = 0, inputs = 0;
  /// What the optimizer keeps for the weights.
  uint64_t optimizer = 0;
  /// Gradients, cotangents, results, and what is there for a moment.
  uint64_t workspace = 0;

  /// 2^64 - 1 where that is too small.
  uint64_t getTotal() const;
};

/// How large a batch fits into a budget.
struct BatchLimit {
  /// The largest batch that fits; 0 where none does, `nullopt` where all do.
  std::optional<uint64_t> largest;
  /// The footprint of the largest batch or, where that is 0, of a batch of 1.
  uint64_t bytes = 0;
};

/// What one policy keeps.
struct PolicyReport {
  Policy policy;
  std::vector<ResidualInfo> residuals;
  std::vector<RecomputedInfo> recomputed;
  SizeExpr total;
  /// The estimated time of what is computed again, in bytes that could be moved
  /// meanwhile.
  uint64_t recomputeTime = 0;
  /// The most bytes of tensors that forward and backward make and have at once.
  /// Not known where sizes are not; the same goes for the footprint.
  std::optional<uint64_t> peak;
  std::optional<Footprint> footprint;
  std::optional<BatchLimit> batch;
};

/// Sizes that stand in for dynamic dimensions of arguments.
struct ArgumentSizes {
  /// By argument and dimension.
  std::map<std::pair<unsigned, unsigned>, uint64_t> ofDims;
  /// Of the dimensions that `ofDims` lacks.
  std::optional<uint64_t> others;

  std::optional<uint64_t> lookup(const SizeSymbols::Symbol &symbol) const;
};

/// How a table is printed.
struct TableOptions {
  /// One line for all equal ones of a policy, with their number.
  bool group = false;
  /// Where operations are in the source.
  bool locations = false;
};

/// What crosses from forward to backward, for several policies on one function.
class MemoryReport {
public:
  /// A report on the function `entry`.
  MemoryReport(StringRef entry, ArgumentSizes sizes)
      : entry(entry), sizes(std::move(sizes)) {}

  /// Adds the residuals of `joint`, a joint function in which they have been
  /// chosen as `options` say. Emits an error for a value whose bytes cannot be
  /// told. May insert operations without effect into `joint`.
  FailureOr<PolicyReport *> add(func::FuncOp joint,
                                const ExplanationOptions &options);

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
  FailureOr<RecomputedInfo> describe(const RecomputedOp &recomputed);
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
