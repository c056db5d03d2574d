//===- Quantizer.cpp - Levels for numbers in few bits ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Places levels that minimize the squared distance of numbers to their level.
// Numbers are counted in bins. Dynamic programming finds the best partition of
// the bins into cells of neighbors, one for each level: over the number of
// cells, the number of fixed levels among them, and the end of the last cell.
// The best begin of a cell moves to the right with its end (squared distances
// have the quadrangle property), so that one layer takes n log n steps.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Candidates/Quantizer.h"
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

using namespace mlir;
using namespace mlir::fad;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// Sums over the numbers of the bins before each, and over all.
struct Sums {
  std::vector<double> count, sum, squares;

  Sums(ArrayRef<double> numbers, unsigned numBins);
  unsigned getNumBins() const { return count.size() - 1; }
  /// The mean of the bins in [begin, end); `nullopt` if they are empty.
  std::optional<double> getMean(unsigned begin, unsigned end) const;
  /// The squared distances in [begin, end) from `level`, or from their mean.
  double getCost(unsigned begin, unsigned end,
                 std::optional<double> level) const;
};

/// Finds the best partition of the bins into cells.
class Partition {
public:
  Partition(const Sums &sums, unsigned numLevels, ArrayRef<double> fixed);
  /// The levels of the best partition.
  SmallVector<double> getLevels() const;

private:
  /// The last cell of a partition.
  struct Cell {
    unsigned begin = 0;
    bool isFixed = false;
  };
  /// For each end of the last cell, its cost with all earlier cells, and the
  /// cell.
  struct Row {
    std::vector<double> costs;
    std::vector<Cell> cells;
  };
  /// By the number of fixed levels.
  using Layer = SmallVector<Row, 3>;

  void addLayer();
  /// Improves `row` from `before` by last cells with the level `level`.
  void improve(Row &row, ArrayRef<double> before, std::optional<double> level);

  const Sums &sums;
  ArrayRef<double> fixed;
  std::vector<Layer> layers;
};
} // namespace

Sums::Sums(ArrayRef<double> numbers, unsigned numBins)
    : count(numBins + 1), sum(numBins + 1), squares(numBins + 1) {
  double low = numbers.front(), width = numbers.back() - low;
  for (double number : numbers) {
    unsigned bin = width > 0 ? (number - low) / width * numBins : 0;
    bin = std::min(bin, numBins - 1);
    count[bin + 1] += 1;
    sum[bin + 1] += number;
    squares[bin + 1] += number * number;
  }
  for (auto *prefix : {&count, &sum, &squares})
    std::partial_sum(prefix->begin(), prefix->end(), prefix->begin());
}

std::optional<double> Sums::getMean(unsigned begin, unsigned end) const {
  double n = count[end] - count[begin];
  return n > 0 ? std::optional((sum[end] - sum[begin]) / n) : std::nullopt;
}

double Sums::getCost(unsigned begin, unsigned end,
                     std::optional<double> level) const {
  if (!level)
    level = getMean(begin, end);
  if (!level)
    return 0;
  double n = count[end] - count[begin];
  double s = sum[end] - sum[begin];
  double q = squares[end] - squares[begin];
  return std::max(0.0, q - *level * (2 * s - *level * n));
}

Partition::Partition(const Sums &sums, unsigned numLevels,
                     ArrayRef<double> fixed)
    : sums(sums), fixed(fixed) {
  Row none{std::vector<double>(sums.getNumBins() + 1, kInfinity), {}};
  layers.emplace_back(fixed.size() + 1, none);
  layers[0][0].costs[0] = 0;
  for (unsigned number = 0; number < numLevels; ++number)
    addLayer();
}

void Partition::addLayer() {
  unsigned size = sums.getNumBins() + 1;
  Row none{std::vector<double>(size, kInfinity), std::vector<Cell>(size)};
  Layer layer(fixed.size() + 1, none);
  const Layer &last = layers.back();
  for (unsigned numFixed = 0; numFixed <= fixed.size(); ++numFixed) {
    improve(layer[numFixed], last[numFixed].costs, std::nullopt);
    if (numFixed > 0)
      improve(layer[numFixed], last[numFixed - 1].costs, fixed[numFixed - 1]);
  }
  layers.push_back(std::move(layer));
}

void Partition::improve(Row &row, ArrayRef<double> before,
                        std::optional<double> level) {
  // Halves the ends, and with the best begin of the middle one the begins.
  struct Range {
    unsigned firstEnd, lastEnd, firstBegin, lastBegin;
  };
  SmallVector<Range> ranges = {{0, sums.getNumBins(), 0, sums.getNumBins()}};
  while (!ranges.empty()) {
    Range range = ranges.pop_back_val();
    unsigned end = (range.firstEnd + range.lastEnd) / 2;
    unsigned best = range.firstBegin;
    double least = kInfinity;
    for (unsigned begin = range.firstBegin;
         begin <= std::min(end, range.lastBegin); ++begin) {
      double cost = before[begin] + sums.getCost(begin, end, level);
      if (cost < least) {
        least = cost;
        best = begin;
      }
    }
    if (least < row.costs[end]) {
      row.costs[end] = least;
      row.cells[end] = {best, level.has_value()};
    }
    if (end > range.firstEnd)
      ranges.push_back({range.firstEnd, end - 1, range.firstBegin, best});
    if (end < range.lastEnd)
      ranges.push_back({end + 1, range.lastEnd, best, range.lastBegin});
  }
}

SmallVector<double> Partition::getLevels() const {
  SmallVector<double> levels;
  unsigned end = sums.getNumBins(), numFixed = fixed.size();
  for (const Layer &layer : llvm::reverse(llvm::drop_begin(layers))) {
    Cell cell = layer[numFixed].cells[end];
    if (cell.isFixed)
      levels.push_back(fixed[--numFixed]);
    else if (std::optional<double> mean = sums.getMean(cell.begin, end))
      levels.push_back(*mean);
    end = cell.begin;
  }
  // A fixed level without numbers near it may be anywhere.
  llvm::sort(levels);
  levels.erase(llvm::unique(levels), levels.end());
  return levels;
}

SmallVector<double> fad::placeLevels(ArrayRef<double> numbers, unsigned count,
                                     ArrayRef<double> fixed) {
  Sums sums(numbers, std::max(1024u, 8 * count));
  return Partition(sums, count, fixed).getLevels();
}

SmallVector<double> fad::getBoundaries(ArrayRef<double> levels) {
  SmallVector<double> boundaries;
  for (size_t number = 1; number < levels.size(); ++number)
    boundaries.push_back((levels[number - 1] + levels[number]) / 2);
  return boundaries;
}
