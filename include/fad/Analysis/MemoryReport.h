//===- MemoryReport.h - What backward needs ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_MEMORYREPORT_H
#define FAD_ANALYSIS_MEMORYREPORT_H

#include "fad/Analysis/SizeExpr.h"
#include "fad/IR/Fad.h"

namespace mlir {
namespace func {
class FuncOp;
} // namespace func

namespace fad {

/// A value that crosses from forward to backward.
struct ResidualInfo {
  Type type;
  /// Zero where the value is alive anyway.
  SizeExpr bytes;
  /// The primal operations whose adjoints read it.
  SmallVector<std::string> neededBy;
  std::string reason;
};

/// What one policy keeps.
struct PolicyResiduals {
  Policy policy;
  SmallVector<ResidualInfo> residuals;
  SizeExpr total;
};

/// Sizes that stand in for dynamic dimensions of arguments.
struct ArgumentSizes {
  /// By argument and dimension.
  std::map<std::pair<unsigned, unsigned>, uint64_t> ofDims;
  /// Of the dimensions that `ofDims` lacks.
  std::optional<uint64_t> others;

  std::optional<uint64_t> lookup(const SizeSymbols::Symbol &symbol) const;
};

/// What crosses from forward to backward, for several policies on one function.
class MemoryReport {
public:
  /// A report on the function `entry`.
  MemoryReport(StringRef entry, ArgumentSizes sizes)
      : entry(entry), sizes(std::move(sizes)) {}

  /// Adds the residuals of `joint`, a joint function in which `policy` has
  /// selected them. Emits an error for a value whose bytes cannot be told. May
  /// insert operations without effect into `joint`.
  LogicalResult add(Policy policy, func::FuncOp joint);

  StringRef getEntry() const { return entry; }
  ArrayRef<PolicyResiduals> getPolicies() const { return policies; }
  /// Bytes of this report, in terms of its symbols.
  std::string toString(const SizeExpr &expr) const;

  /// One table of all policies.
  void printTable(raw_ostream &os) const;
  /// The same as a JSON object; a size that is not a number is a string.
  void printJSON(raw_ostream &os) const;

private:
  void printLegend(raw_ostream &os) const;

  std::string entry;
  ArgumentSizes sizes;
  SizeSymbols symbols;
  SmallVector<PolicyResiduals> policies;
};

} // namespace fad
} // namespace mlir

#endif // FAD_ANALYSIS_MEMORYREPORT_H
