//===- PeakTimeline.h - Steps under a selection -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_COSTS_PEAKTIMELINE_H
#define FAD_TRANSFORMS_RESIDUALS_COSTS_PEAKTIMELINE_H

#include "fad/Transforms/Residuals/Costs/PeakModel.h"

namespace mlir::fad {

/// The steps of forward and backward under one selection. A value has up to
/// five copies: that of forward, that of backward, that which is saved in
/// another encoding, that which backward decodes from it, and that which comes
/// back from the host.
class PeakModel::Timeline {
public:
  Timeline(const PeakModel &model, const llvm::DenseSet<Value> &saved,
           const llvm::DenseSet<Value> &onHost = {});

  Cost::Count getPeak();
  /// The values that live at the ends of the segments of forward. A segment has
  /// buffers of about `bytes`.
  llvm::DenseSet<Value> divide(int64_t bytes);
  /// The bytes that kernels of the compiler read and write, and the time of
  /// other operations that backward repeats.
  StepTime getTime();

private:
  class Kernel;
  class KernelGraph;
  class Kernels;
  class Segments;
  enum Copy { inForward, inBackward, encoded, decoded, loaded, numCopies };
  struct Step {
    /// The number of a node; if `copy` is `decoded` or `loaded`, of a value.
    unsigned number;
    Copy copy;
  };

  unsigned get(unsigned value, Copy copy) const {
    return copy * model.values.size() + value;
  }
  bool isEncoded(unsigned value) const {
    return saved[value] && !onHost[value] && model.savedBytes[value] != 0 &&
           model.savedBytes[value] < model.bytes[value];
  }
  /// The work of a kernel that computes a copy.
  struct Computation {
    /// The copies in memory that it reads, and the nodes that it executes.
    SmallVector<unsigned, 4> reads, nodes;
    /// The scalar operations, of which each is one, as the reads are.
    int64_t numOperations = 0;
    bool isShared = true;
  };
  /// The copy of `value` that a step of backward reads.
  unsigned getInBackward(unsigned value) const;
  /// Whether backward has `value` without computing it.
  bool isGiven(unsigned value) const;
  void addBackward(unsigned node);
  /// Calls `visit` with each copy that the step reads which executes `node` for
  /// the part `copy`.
  void forEachRead(const Node &node, Copy copy,
                   llvm::function_ref<void(unsigned)> visit) const;
  /// The computation of the first operand of a step of `node`, if the step
  /// computes that into its result.
  const Computation *getFirst(const Node &node, Copy copy) const;
  /// Finds the copies that have to be in memory, that several operations read,
  /// and that are broadcast.
  void findReaders();
  /// Finds the copies that each kernel computes which reads them.
  void findInlined();
  /// Finds both, which no order of the steps changes.
  void findFusion();
  /// Moves operations of forward behind kernels to the first that reads their
  /// results, if that fuses with them and no operand waits for it.
  void delayFused();
  /// For each step of forward, the one before which it runs, or itself.
  SmallVector<unsigned> findDelays() const;
  /// Whether the readers of a step's results compute them.
  bool isInline(const Step &step) const;
  /// The elements of the largest result.
  int64_t getElements(const Node &node) const;
  /// The copies in memory that a kernel reads which executes the step.
  SmallVector<unsigned> getSources(const Step &step) const;
  /// Moves operations of backward that fuse with others before the kernel
  /// between them.
  void hoistFused();
  /// Moves operations of backward to kernels before theirs that read the same
  /// operands, if no more bytes live between them then.
  void hoistSharing();
  /// Whether elementwise operations of `run`, the steps from `kernel` to the
  /// next one, move before `kernel`, and to the steps `before` it.
  llvm::BitVector findHoisted(ArrayRef<Step> before, const Step &kernel,
                              ArrayRef<Step> run) const;
  /// Whether a step is of backward, and elementwise or a view.
  bool mayMove(const Step &step) const;
  /// Whether a step of backward is a kernel that fuses with no other.
  bool isBarrier(const Step &step) const;
  /// Whether a step of a node reads any of the copies in backward.
  bool readsAny(const Step &step, const llvm::BitVector &copies) const;
  /// Adds what a step computes to the copies.
  void addResults(const Step &step, llvm::BitVector &copies) const;
  /// Takes another order of the kernels of backward, if one has a lower peak,
  /// and tells whether it does.
  bool reorderKernels();
  void findLastReads();
  /// Finds the kernels of several operations without another one between them.
  void findKernels();
  /// Calls `visit` with the copies in memory from which a kernel computes what
  /// the step reads that executes `node` for the part `copy`.
  void forEachSource(const Node &node, Copy copy,
                     llvm::function_ref<void(unsigned)> visit) const;
  /// Whether no other kernel runs between a step and a later one.
  bool isTogether(unsigned time, unsigned until) const;
  /// Whether `copy` is computed where it is read. All steps after `time`, which
  /// computes it, are known.
  bool isFused(unsigned copy, unsigned time) const;
  /// Bytes that encoding or decoding `value` needs while it runs.
  Cost::Count getCodeBytes(unsigned value, Copy copy) const;

  const PeakModel &model;
  /// The saved values; those of them on the host; the nodes in backward; and
  /// the values that backward has decoded or loaded.
  llvm::BitVector saved, onHost, executed, isRestored;
  SmallVector<Step> steps;
  unsigned numForward = 0;
  /// For each copy, the last step that reads it; whether it is a result, or a
  /// kernel reads it that needs it in memory; whether several operations read
  /// it; whether an operation of more elements does; and whether kernels that
  /// read it compute it.
  SmallVector<unsigned> last;
  llvm::BitVector isInMemory, isShared, isBroadcast, isInlined;
  /// For each copy, whether its kernel has a part of a sum over its rows.
  llvm::BitVector isSummed;
  /// For each copy that its readers compute, the work for that.
  SmallVector<std::optional<Computation>> inlined;
  /// The steps whose results have no buffer, and for each step, the number of
  /// kernels before it that do not fuse.
  llvm::BitVector isFusedStep;
  SmallVector<unsigned> numKernels;
  /// Where the kernels of backward are in another order than in the program,
  /// the number of the kernel of each step.
  SmallVector<unsigned> sortedKernel;
  /// There, for a step that begins with a copy of its first operand, the step
  /// before which that is made.
  llvm::DenseMap<unsigned, unsigned> beginOf;
  /// For each step, the first and the last of its kernel, which has all of its
  /// operands and results at once; for each copy, whether no operation of a
  /// kernel may write over it.
  SmallVector<std::pair<unsigned, unsigned>> kernelOf;
  llvm::BitVector isHeld;
  /// For each step, the bytes of memory that its results may be written over.
  SmallVector<int64_t> reusable;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_COSTS_PEAKTIMELINE_H
