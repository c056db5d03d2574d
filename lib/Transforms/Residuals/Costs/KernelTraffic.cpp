//===- KernelTraffic.cpp - Bytes that the kernels of a step move ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forms the kernels of a compiler that fuses, and adds up what they read and
// write. An operation that its readers do not compute is the work of a kernel,
// and so is each reduction; all other operations are calls. Works and calls
// have levels, which grow from an operation to its reader where one kernel
// cannot have both: behind a call, and behind a reduction of other dimensions
// than the last. So no way leads from one work to another of the same level
// through another kernel, and those that share what they read or compute are
// one kernel.
//
// Works that depend on a cotangent, and all of forward, are as early as can be.
// Those that backward repeats, and sums over columns, wait for the kernel with
// which they share the most bytes.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakTimeline.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace mlir::fad;

/// Inductor sums the rows and the columns of a matrix in one kernel if it has
/// at least so many elements and rows, and at most so many columns.
static constexpr int64_t kLeastOfBoth = 5 << 20, kLeastRows = 4096,
                         kMostColumns = 16 << 10;

class PeakModel::Timeline::Kernels {
public:
  Kernels(const Timeline &timeline, bool isForward)
      : timeline(timeline), model(timeline.model),
        makerOf(timeline.isInMemory.size(), -1),
        readersOf(timeline.isInMemory.size()) {
    unsigned begin = isForward ? 0 : timeline.numForward;
    unsigned end = isForward ? timeline.numForward : timeline.steps.size();
    for (const Step &step : ArrayRef(timeline.steps).slice(begin, end - begin))
      addStep(step);
  }

  StepTime getTime();

private:
  enum class Kind { elementwise, rows, columns, call };
  struct Work {
    Kind kind;
    SmallVector<unsigned, 4> reads, writes;
    Cost::Count elements = 0;
    /// Whether its level is not the first that it may have.
    bool isFlexible = false;
    unsigned level = 0;
  };

  void addStep(const Step &step);
  void addWork(Work work);
  Cost::Count getBytes(unsigned copy) const {
    unsigned value = copy % model.values.size();
    return copy / model.values.size() == encoded ? model.savedBytes[value]
                                                 : model.bytes[value];
  }
  /// Whether a kernel may have `maker` and `reader`, which reads its result.
  bool mayFuse(const Work &maker, const Work &reader) const;
  /// Whether a kernel may have both works, which read the same.
  bool mayShare(const Work &a, const Work &b) const;
  /// Whether a kernel may sum rows and columns of the same elements.
  bool mayReduceBoth(const Work &rows, const Work &columns) const;
  /// Moves each work behind what it reads. Returns the number of levels.
  unsigned raiseLevels();
  void findLevels();
  /// Moves works that may wait, of `end` levels, to those whose bytes they
  /// share.
  void placeFlexible(unsigned end);
  /// The level of `work` between those of its operands and of its readers.
  unsigned chooseLevel(const Work &work, unsigned last) const;
  /// The kernels, by works.
  llvm::IntEqClasses join() const;

  const Timeline &timeline;
  const PeakModel &model;
  std::vector<Work> works;
  /// For each copy, the work that computes it, and those that read it.
  SmallVector<int> makerOf;
  std::vector<SmallVector<unsigned, 2>> readersOf;
  Cost::Count calls = 0;
  /// The bytes that the link to the host moves.
  Cost::Count linkBytes = 0;
};

void PeakModel::Timeline::Kernels::addWork(Work work) {
  for (unsigned read : work.reads) {
    readersOf[read].push_back(works.size());
    work.elements = std::max<Cost::Count>(
        work.elements, model.elements[read % model.values.size()]);
  }
  for (unsigned written : work.writes) {
    makerOf[written] = works.size();
    work.elements = std::max<Cost::Count>(
        work.elements, model.elements[written % model.values.size()]);
  }
  works.push_back(std::move(work));
}

void PeakModel::Timeline::Kernels::addStep(const Step &step) {
  unsigned number = step.number;
  Copy copy = step.copy;
  if (copy == decoded) {
    if (unsigned value = timeline.get(number, decoded);
        !timeline.isInlined[value])
      addWork({Kind::elementwise, {timeline.get(number, encoded)}, {value}});
    return;
  }
  if (copy == loaded) {
    linkBytes += model.bytes[number];
    return;
  }
  const Node &node = model.nodes[number];
  if (node.isInPlace)
    return;
  Work work = {Kind::call};
  if (node.fuses)
    work.kind = Kind::elementwise;
  else if (node.reducesRows || node.reducesColumns)
    work.kind = node.reducesRows ? Kind::rows : Kind::columns;
  work.isFlexible =
      work.kind == Kind::columns || (copy == inBackward && !node.isBackward);
  if (work.kind == Kind::call)
    calls += node.time;
  timeline.forEachSource(node, copy, [&](unsigned read) {
    if (!llvm::is_contained(work.reads, read))
      work.reads.push_back(read);
  });
  for (unsigned result : node.results)
    if (unsigned value = timeline.get(result, copy); !timeline.inlined[value])
      work.writes.push_back(value);
  SmallVector<unsigned, 4> reads = work.reads;
  if (const Computation *first = timeline.getFirst(node, copy))
    addWork({Kind::elementwise, first->reads, work.writes});
  if (!work.writes.empty())
    addWork(std::move(work));
  for (unsigned result : node.results) {
    if (copy == inForward && timeline.onHost[result])
      linkBytes += model.bytes[result];
    if (copy == inForward && timeline.isEncoded(result)) {
      unsigned value = timeline.get(result, inForward);
      if (!timeline.inlined[value])
        reads = {value};
      addWork({Kind::elementwise, reads, {timeline.get(result, encoded)}});
    }
  }
}

bool PeakModel::Timeline::Kernels::mayFuse(const Work &maker,
                                           const Work &reader) const {
  if (maker.kind == Kind::call || reader.kind == Kind::call ||
      maker.kind == Kind::columns || reader.kind == Kind::columns)
    return false;
  auto [few, many] = std::minmax(maker.elements, reader.elements);
  return few == many || 16 * few <= many;
}

bool PeakModel::Timeline::Kernels::mayShare(const Work &a,
                                            const Work &b) const {
  if (a.elements != b.elements)
    return false;
  if ((a.kind == Kind::columns) == (b.kind == Kind::columns))
    return true;
  return a.kind == Kind::columns ? mayReduceBoth(b, a) : mayReduceBoth(a, b);
}

bool PeakModel::Timeline::Kernels::mayReduceBoth(const Work &rows,
                                                 const Work &columns) const {
  auto countResults = [&](const Work &work) {
    return model.elements[work.writes.front() % model.values.size()];
  };
  if (rows.kind != Kind::rows)
    return false;
  int64_t numRows = countResults(rows), numColumns = countResults(columns);
  return rows.elements >= kLeastOfBoth && numRows >= kLeastRows &&
         numRows >= 2 * numColumns && numColumns <= kMostColumns;
}

unsigned PeakModel::Timeline::Kernels::chooseLevel(const Work &work,
                                                   unsigned last) const {
  // Without a kernel to share with, right before the first reader.
  unsigned best = last;
  for (unsigned written : work.writes)
    for (unsigned reader : readersOf[written]) {
      unsigned level = works[reader].level;
      best =
          std::min(best, level - (level > 0 && !mayFuse(work, works[reader])));
    }
  best = std::max(best, work.level);
  llvm::DenseMap<unsigned, Cost::Count> shared;
  auto share = [&](unsigned copy, bool isMade) {
    SmallVector<unsigned, 4> levels;
    for (unsigned reader : readersOf[copy]) {
      const Work &other = works[reader];
      bool isPlaced = &other > &work || !other.isFlexible;
      if (&other != &work && isPlaced && other.kind != Kind::call &&
          other.level >= work.level && other.level <= last &&
          (isMade ? mayFuse(work, other) : mayShare(work, other)) &&
          !llvm::is_contained(levels, other.level))
        levels.push_back(other.level);
    }
    for (unsigned level : levels)
      shared[level] += getBytes(copy);
  };
  for (unsigned read : work.reads)
    share(read, false);
  for (unsigned written : work.writes)
    share(written, true);
  Cost::Count most = 0;
  for (auto [level, bytes] : shared)
    if (bytes > most || (bytes == most && level > best)) {
      best = level;
      most = bytes;
    }
  return best;
}

unsigned PeakModel::Timeline::Kernels::raiseLevels() {
  unsigned end = 0;
  for (Work &work : works) {
    for (unsigned read : work.reads)
      if (makerOf[read] >= 0) {
        const Work &maker = works[makerOf[read]];
        work.level = std::max(work.level, maker.level + !mayFuse(maker, work));
      }
    end = std::max(end, work.level + 1);
  }
  return end;
}

void PeakModel::Timeline::Kernels::findLevels() {
  // Works that wait raise the levels of others, for which more wait.
  for (int round = 0; round < 2; ++round)
    placeFlexible(raiseLevels());
  raiseLevels();
}

void PeakModel::Timeline::Kernels::placeFlexible(unsigned end) {
  // The last level of each work; readers come behind.
  SmallVector<unsigned> last(works.size(), end);
  for (size_t number = works.size(); number-- > 0;) {
    Work &work = works[number];
    for (unsigned written : work.writes)
      for (unsigned reader : readersOf[written]) {
        unsigned level = last[reader];
        if (!mayFuse(work, works[reader]))
          level -= std::min(level, 1u);
        last[number] = std::min(last[number], level);
      }
    if (!work.isFlexible || work.kind == Kind::call)
      continue;
    if (last[number] > work.level)
      work.level = chooseLevel(work, last[number]);
    last[number] = work.level;
  }
}

llvm::IntEqClasses PeakModel::Timeline::Kernels::join() const {
  llvm::IntEqClasses kernels(works.size());
  // The works that read a copy at a level.
  llvm::DenseMap<std::pair<unsigned, unsigned>, SmallVector<unsigned, 2>>
      reading;
  for (auto [number, work] : llvm::enumerate(works)) {
    if (work.kind == Kind::call)
      continue;
    for (unsigned read : work.reads) {
      if (int maker = makerOf[read]; maker >= 0 &&
                                     works[maker].level == work.level &&
                                     mayFuse(works[maker], work))
        kernels.join(maker, number);
      SmallVector<unsigned, 2> &others = reading[{read, work.level}];
      for (unsigned other : others)
        if (mayShare(works[other], work))
          kernels.join(other, number);
      others.push_back(number);
    }
  }
  kernels.compress();
  return kernels;
}

StepTime PeakModel::Timeline::Kernels::getTime() {
  findLevels();
  llvm::IntEqClasses kernels = join();
  StepTime time;
  time.calls = calls;
  // Each call is a class of its own.
  time.launches = kernels.getNumClasses() * Cost::Count(model.launchTime);
  llvm::DenseSet<std::pair<unsigned, unsigned>> moved;
  for (auto [number, work] : llvm::enumerate(works)) {
    if (work.kind == Kind::call)
      continue;
    unsigned kernel = kernels[number];
    for (unsigned read : work.reads) {
      int maker = makerOf[read];
      bool isOwn = maker >= 0 && works[maker].kind != Kind::call &&
                   kernels[maker] == kernel;
      if (!isOwn && moved.insert({kernel, read}).second)
        time.traffic += getBytes(read);
    }
    for (unsigned written : work.writes) {
      bool isRead = llvm::any_of(readersOf[written], [&](unsigned reader) {
        return works[reader].kind == Kind::call || kernels[reader] != kernel;
      });
      bool isResult = timeline.isInMemory[written] ||
                      written / model.values.size() == encoded;
      if (isRead || isResult)
        time.traffic += getBytes(written);
    }
  }
  time.waits =
      std::max<Cost::Count>(model.linkTime * linkBytes - time.get(), 0);
  return time;
}

StepTime PeakModel::Timeline::getTime() {
  findFusion();
  StepTime forward = Kernels(*this, true).getTime();
  StepTime backward = Kernels(*this, false).getTime();
  return {forward.traffic + backward.traffic, forward.calls + backward.calls,
          forward.launches + backward.launches, forward.waits + backward.waits};
}
