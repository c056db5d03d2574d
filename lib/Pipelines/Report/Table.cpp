//===- Table.cpp - Memory reports for people ------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Lines of cells that are printed below each other.
class Grid {
public:
  using Row = SmallVector<std::string>;

  /// The columns from the second to `lastNumber` are aligned to the right.
  explicit Grid(unsigned lastNumber) : lastNumber(lastNumber) {}

  /// Adds a row; lines of different `group` are apart.
  void add(Row row, unsigned group = 0) {
    rows.emplace_back(std::move(row), group);
  }
  void print(raw_ostream &os) const {
    SmallVector<size_t> widths;
    for (auto &[row, group] : rows)
      for (auto [column, cell] : llvm::enumerate(row)) {
        widths.resize(std::max(widths.size(), column + 1));
        widths[column] = std::max(widths[column], cell.size());
      }
    unsigned last = 0;
    for (auto &[row, group] : rows) {
      os << (group != last ? "\n" : "");
      last = group;
      std::string line;
      for (auto [column, cell] : llvm::enumerate(row)) {
        std::string padding(widths[column] - cell.size(), ' ');
        line += column == 0 ? "" : "  ";
        line += column != 0 && column <= lastNumber ? padding + cell
                                                    : cell + padding;
      }
      os << StringRef(line).rtrim() << "\n";
    }
  }

private:
  unsigned lastNumber;
  SmallVector<std::pair<Row, unsigned>> rows;
};
} // namespace

std::string fad::toReadable(uint64_t bytes) {
  static constexpr StringLiteral units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double number = bytes;
  unsigned unit = 0;
  for (number /= 1024; number >= 1024 && unit + 1 < std::size(units); ++unit)
    number /= 1024;
  return llvm::formatv("{0:f2} {1}", number, units[unit]);
}

//===----------------------------------------------------------------------===//
// The parts of a table
//===----------------------------------------------------------------------===//

void MemoryReport::printLegend(raw_ostream &os) const {
  for (const SizeSymbols::Symbol &symbol : getSymbols()) {
    // The name of a quotient is its definition.
    if (symbol.divisor)
      continue;
    os << "  " << symbol.name;
    if (std::optional<uint64_t> size = sizes.given.lookup(symbol))
      os << " = " << *size;
    os << ": " << symbol.description << "\n";
  }
}

/// The cell for the largest batch.
static std::string toString(const BatchLimit &batch) {
  if (!batch.largest)
    return "any";
  if (*batch.largest == 0)
    return llvm::formatv("none: 1 takes {0}", toReadable(batch.bytes));
  return std::to_string(*batch.largest);
}

void MemoryReport::printSummary(raw_ostream &os) const {
  bool hasPeak = llvm::any_of(
      policies, [](const PolicyReport &policy) { return policy.peak; });
  bool hasBatch = llvm::any_of(
      policies, [](const PolicyReport &policy) { return policy.batch; });
  Grid grid(4);
  Grid::Row header = {"policy", "kept", "in backward"};
  if (hasPeak)
    header.push_back("peak");
  if (hasBatch)
    header.push_back("largest batch");
  grid.add(header);
  for (const PolicyReport &policy : policies) {
    std::optional<uint64_t> total = policy.total.getConstant();
    Grid::Row row = {stringifyPolicy(policy.policy).str(),
                     total ? toReadable(*total) : toString(policy.total),
                     toReadable(policy.recomputeTime)};
    if (hasPeak)
      row.push_back(policy.peak ? toReadable(*policy.peak) : "");
    if (hasBatch)
      row.push_back(policy.batch ? ::toString(*policy.batch) : "");
    grid.add(row);
  }
  grid.print(os);
}

void MemoryReport::printFootprints(raw_ostream &os) const {
  Grid grid(7);
  grid.add({"footprint", "activations", "other kept", "weights", "optimizer",
            "inputs", "workspace", "total"});
  bool isEmpty = true;
  for (const PolicyReport &policy : policies) {
    if (!policy.footprint)
      continue;
    isEmpty = false;
    const Footprint &footprint = *policy.footprint;
    uint64_t total = footprint.getTotal();
    auto cell = [&](uint64_t bytes) -> std::string {
      double share = total ? 100.0 * bytes / total : 0;
      return llvm::formatv("{0} {1:f0}%", toReadable(bytes), share);
    };
    grid.add({stringifyPolicy(policy.policy).str(), cell(footprint.activations),
              cell(footprint.others), cell(footprint.weights),
              cell(footprint.optimizer), cell(footprint.inputs),
              cell(footprint.workspace), toReadable(total)});
  }
  if (isEmpty)
    return;
  os << "\n";
  grid.print(os);
}

/// Each row once, with the number of times that it occurs in its second cell.
static SmallVector<Grid::Row> group(ArrayRef<Grid::Row> rows) {
  llvm::MapVector<std::vector<std::string>, unsigned,
                  std::map<std::vector<std::string>, unsigned>>
      counts;
  for (const Grid::Row &row : rows)
    ++counts[std::vector<std::string>(row.begin(), row.end())];
  SmallVector<Grid::Row> result;
  for (auto &[row, count] : counts) {
    result.emplace_back(row.begin(), row.end());
    if (count > 1)
      result.back()[1] = llvm::formatv("{0} x {1}", count, row[1]);
  }
  return result;
}

void MemoryReport::printTable(raw_ostream &os,
                              const TableOptions &options) const {
  os << "What crosses from forward to backward of @" << entry << "\n";
  printLegend(os);
  os << "\n";
  printSummary(os);
  printFootprints(os);
  os << "\n";
  if (llvm::any_of(policies, [](const PolicyReport &policy) {
        return policy.peak || policy.batch;
      }))
    os << "Backward is taken to overwrite and free what is kept, as with "
          "reuse-residuals.\n\n";

  auto from = [&](const ValueInfo &info) {
    if (!options.locations || info.location.empty())
      return info.operation;
    return info.operation + (info.operation.empty() ? "" : " ") + "at " +
           info.location;
  };
  Grid grid(1);
  grid.add({"policy", "bytes", "type", "from", "for", "reason"});
  for (auto [number, policy] : llvm::enumerate(policies)) {
    std::string name = stringifyPolicy(policy.policy).str();
    SmallVector<Grid::Row> rows;
    for (const ResidualInfo &info : policy.residuals)
      rows.push_back({name, toString(info.bytes), debugString(info.type),
                      from(info), llvm::join(info.neededBy, ", "),
                      info.because.empty()
                          ? info.reason
                          : info.reason + "; " + info.because});
    for (const RecomputedInfo &info : policy.recomputed)
      rows.push_back(
          {name, "backward", debugString(info.type), from(info), "",
           llvm::formatv(
               "computed in backward, in the time of moving {0} bytes",
               info.time)});
    if (options.group)
      rows = group(rows);
    for (Grid::Row &row : rows)
      grid.add(row, number + 1);
    grid.add({name, toString(policy.total), "total"}, number + 1);
  }
  grid.print(os);
}
