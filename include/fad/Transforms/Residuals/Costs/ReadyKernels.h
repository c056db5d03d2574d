//===- ReadyKernels.h - Kernels that may run next ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_COSTS_READYKERNELS_H
#define FAD_TRANSFORMS_RESIDUALS_COSTS_READYKERNELS_H

#include "fad/Analysis/MinCut.h"
#include <numeric>

namespace mlir::fad {

/// The kernels that may run next, in a tree over all kernels in the order of
/// the bytes of their results: a node has the one of its subtree that adds the
/// fewest bytes, and of several, the first.
class ReadyKernels {
public:
  explicit ReadyKernels(llvm::ArrayRef<Cost::Count> made)
      : placeOf(made.size()), tree(2 * made.size(), kNone) {
    llvm::SmallVector<unsigned> order(made.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(
        order, [&](unsigned a, unsigned b) { return made[a] < made[b]; });
    for (auto [place, kernel] : llvm::enumerate(order)) {
      placeOf[kernel] = place;
      sizes.push_back(made[kernel]);
    }
  }

  bool has(unsigned kernel) const {
    return tree[sizes.size() + placeOf[kernel]] != kNone;
  }
  /// Adds a kernel, or changes how many bytes it adds.
  void add(unsigned kernel, int64_t bytes) { set(kernel, {bytes, kernel}); }
  void remove(unsigned kernel) { set(kernel, kNone); }

  /// The kernel that adds the fewest bytes of those whose results have at most
  /// `most`; if there is none, that of those whose results have the fewest.
  std::optional<unsigned> find(Cost::Count most) const {
    Entry found = findLeast(0, llvm::upper_bound(sizes, most) - sizes.begin());
    if (found == kNone) {
      // The first one that is ready, in the order of the bytes.
      if (sizes.empty() || findLeast(0, sizes.size()) == kNone)
        return std::nullopt;
      unsigned first = 0, last = sizes.size();
      while (last - first > 1) {
        unsigned middle = first + (last - first) / 2;
        (findLeast(first, middle) == kNone ? first : last) = middle;
      }
      auto [begin, end] =
          std::equal_range(sizes.begin(), sizes.end(), sizes[first]);
      found = findLeast(begin - sizes.begin(), end - sizes.begin());
    }
    return found.second;
  }

private:
  /// The bytes that a kernel adds, and its number.
  using Entry = std::pair<int64_t, unsigned>;
  static constexpr Entry kNone = {std::numeric_limits<int64_t>::max(), ~0u};

  void set(unsigned kernel, Entry entry) {
    size_t node = sizes.size() + placeOf[kernel];
    for (tree[node] = entry; node > 1; node /= 2)
      tree[node / 2] = std::min(tree[node], tree[node ^ 1]);
  }
  /// The least entry of the places from `first` to `last`, without the latter.
  Entry findLeast(size_t first, size_t last) const {
    Entry least = kNone;
    for (first += sizes.size(), last += sizes.size(); first < last;
         first /= 2, last /= 2) {
      if (first % 2 == 1)
        least = std::min(least, tree[first++]);
      if (last % 2 == 1)
        least = std::min(least, tree[--last]);
    }
    return least;
  }

  llvm::SmallVector<unsigned> placeOf;
  /// In ascending order.
  llvm::SmallVector<Cost::Count> sizes;
  llvm::SmallVector<Entry> tree;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_COSTS_READYKERNELS_H
