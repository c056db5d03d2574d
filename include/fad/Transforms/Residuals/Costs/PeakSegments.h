//===- PeakSegments.h - Backward between its kernels ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_COSTS_PEAKSEGMENTS_H
#define FAD_TRANSFORMS_RESIDUALS_COSTS_PEAKSEGMENTS_H

#include "fad/Transforms/Residuals/Costs/PeakTimeline.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fad {

/// The steps of backward in segments, between which are kernels that fuse with
/// no other: kernel `s` is behind segment `s`, and makes what is ready in
/// segment `s + 1`.
class PeakModel::Timeline::Segments {
public:
  explicit Segments(const Timeline &timeline);

  /// Moves each operation that shares operands with one of an earlier segment.
  void hoist();
  /// The steps in their new order, those of forward among them.
  SmallVector<Step> getOrder() const;

private:
  /// Segments or places in ascending order, each with a step that is there.
  using Sorted = SmallVector<std::pair<int64_t, unsigned>, 2>;
  using Range = ArrayRef<std::pair<int64_t, unsigned>>;
  /// Steps that move together, of as many elements each.
  using Group = llvm::SmallSetVector<unsigned, 4>;

  const Node &getNode(unsigned step) const {
    return timeline.model.nodes[timeline.steps[step].number];
  }
  /// The elements for each of which a step computes something, which are the
  /// same in all operations of a kernel.
  int64_t getElements(unsigned step) const;
  /// Whether a step is elementwise and has a result in memory that no other of
  /// its segment reads alone.
  bool isRoot(unsigned step) const;
  /// Whether a step is a kernel, or its last operation, which reads copies in
  /// memory.
  bool isReader(unsigned step) const;
  /// The segment of a step, or the kernel behind it: twice the segment, and 1
  /// more for the kernel.
  int64_t getPlace(unsigned step) const;
  /// The last place in which any step but those of a group reads a copy; -1 if
  /// there is none.
  int64_t getLast(unsigned copy, const Group &group = {}) const;
  /// The copies in memory that a step reads, each once.
  SmallVector<unsigned> getSources(unsigned step) const;
  /// The bytes of a copy's buffer that ends with its last reader.
  Cost::Count getFreeableBytes(unsigned copy) const;
  /// The copies in memory that a group reads, each once, but its results.
  SmallVector<unsigned> getSources(const Group &group) const;
  /// Whether steps make more bytes than they free, as the last readers of the
  /// sources for which `isLast` holds.
  bool addsBytes(ArrayRef<unsigned> steps, ArrayRef<unsigned> sources,
                 llvm::function_ref<bool(unsigned)> isLast) const;
  /// The segment before its own to which a group moves.
  std::optional<unsigned> findSegment(const Group &group) const;
  /// Adds the steps of its segment to a group that share operands with it.
  /// Fails if there are none, or if they cannot all move.
  bool addSharing(Group &group) const;
  /// Adds a step to the readers of its sources, or removes it.
  void setReader(unsigned step, bool isReader);
  /// For each step of a segment that is a kernel or the last operation of one,
  /// the number of the first step of its kernel, and its own.
  using Places = SmallVector<std::pair<unsigned, unsigned>>;
  Places findPlaces(ArrayRef<unsigned> run) const;
  /// The kernel with which a step shares the most bytes, of those that read a
  /// copy and that make one.
  std::optional<unsigned> findKernel(
      unsigned step,
      const llvm::DenseMap<std::pair<unsigned, int64_t>, unsigned> &reads,
      const llvm::DenseMap<unsigned, unsigned> &makes) const;
  /// Adds the steps of a segment to the order, those of a kernel where the
  /// first of them is.
  void addGathered(ArrayRef<unsigned> run, SmallVector<Step> &order) const;
  /// Moves a step to a segment, behind those that compute its operands inline.
  void move(unsigned step, unsigned segment);

  /// The steps of the segment `first` and later ones.
  static Range getFrom(Range steps, int64_t first) {
    return steps.drop_front(llvm::lower_bound(steps, std::pair(first, 0u)) -
                            steps.begin());
  }

  /// Larger groups stay.
  static constexpr size_t kMost = 64;

  const Timeline &timeline;
  /// The segment of each step; the steps that moved to each segment; the
  /// kernels behind the segments.
  SmallVector<unsigned> segmentOf;
  SmallVector<SmallVector<unsigned>> moved;
  llvm::BitVector hasMoved;
  /// For each copy: the first segment that has it; the step of backward that
  /// makes it, or -1; the last step that reads it in memory, or -1; the places
  /// of those that the pass has reached; whether its buffer lasts to the end of
  /// the step.
  SmallVector<unsigned> ready;
  SmallVector<int> makerOf, lastReader;
  SmallVector<Sorted> places;
  llvm::BitVector isKept;
  /// For each copy and count of elements, the segments of the steps that the
  /// pass has reached which read the copy and fuse with others of as many
  /// elements.
  llvm::DenseMap<std::pair<unsigned, int64_t>, Sorted> sharers;
  /// The step that the pass is at.
  unsigned current = 0;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_COSTS_PEAKSEGMENTS_H
