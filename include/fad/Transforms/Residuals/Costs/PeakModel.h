//===- PeakModel.h - Memory of a step under a selection -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_COSTS_PEAKMODEL_H
#define FAD_TRANSFORMS_RESIDUALS_COSTS_PEAKMODEL_H

#include "fad/IR/Fad.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::fad {

/// The time of a step whose elementwise operations are fused.
struct StepTime {
  /// Bytes that kernels of elementwise operations and reductions read and
  /// write.
  Cost::Count traffic = 0;
  /// The time of all other operations, in the units of `OperationTimes`.
  Cost::Count calls = 0;
  /// The time to launch all kernels and other operations.
  Cost::Count launches = 0;
  /// The time that forward and backward wait for residuals on their way to the
  /// host and back.
  Cost::Count waits = 0;
  Cost::Count get() const { return 8 * traffic + calls + launches + waits; }
};

/// The memory that forward and backward of a joint function take at once, under
/// any selection of residuals.
///
/// Forward runs in program order; its operations in the backward part, which
/// compute coefficients, run as soon as their operands are there. Backward runs
/// in program order, too, and repeats an operation immediately before the first
/// operation that needs it. A buffer lives from the operation that computes it
/// to the last that reads it; results and gradients live to the end of the
/// step, cotangents from the end of forward. Arguments do not count, and views
/// have no buffer. Of the memory that kernels take for themselves, the model
/// has what the attribute `fad.scratch` of an operation says.
///
/// Residuals may wait on the host. Each leaves the device while the step runs
/// behind its last reader in forward, and comes back while that runs before its
/// first reader in backward. The link to the host moves the bytes of forward,
/// and those of backward, one after the other beside the work of the device; a
/// part waits for it if it takes longer.
///
/// Operations are neither fused nor executed in place, unless the function has
/// the attribute `fad.fuses`, for a compiler that does so. There a result of an
/// elementwise operation has no buffer if elementwise operations and reductions
/// alone read it, and no operation that has `fad.materializes`, and either no
/// other kernel runs between, or the compiler computes it in each kernel that
/// reads it (`FusionAttr`). Its operands live until it is read instead. In
/// backward, elementwise operations behind
/// another kernel that do not need its results run before it, in the kernel
/// that computes what they read; and those that read what an earlier kernel
/// of elementwise operations reads run in that, if their operands are there and
/// they take no more bytes than they free. An elementwise operation that is
/// no copy, and one with `fad.overwrites`, writes its result over an operand of
/// as many bytes that it is the last to read. On a CPU, a kernel of several
/// operations has all operands and results at once, and writes over no operand
/// that two of its operations read of which none needs the other; and an
/// operation of forward waits for its first reader in such a kernel, where its
/// operands are there anyway. The kernels of backward run in another order
/// than that of the program where that has a lower peak.
class PeakModel {
public:
  PeakModel(const JointFunction &joint, CostModel &costs);

  /// The largest number of bytes at any time, if `saved` are the residuals, of
  /// which `onHost` are on the host.
  int64_t getPeak(const llvm::DenseSet<Value> &saved,
                  const llvm::DenseSet<Value> &onHost = {}) const;

  /// Whether a compiler fuses operations, so that `getTime` has an answer.
  bool isFused() const { return bool(fusion); }
  /// The time of the step, if `saved` are the residuals, of which `onHost` are
  /// on the host.
  StepTime getTime(const llvm::DenseSet<Value> &saved,
                   const llvm::DenseSet<Value> &onHost = {}) const;

  /// The bytes of all buffers of the forward part.
  int64_t getForwardBytes() const { return saturate(forwardBytes); }

  /// Values that divide the forward part into segments: backward can compute
  /// each segment again from the values of the division before it. A segment
  /// has buffers of about `bytes`, and ends where the fewest bytes live.
  llvm::DenseSet<Value> divide(int64_t bytes) const;

private:
  /// An operation of the joint function.
  struct Node {
    Operation *op;
    /// Numbers of the values that it reads and computes.
    SmallVector<unsigned, 4> reads, results;
    bool isBackward = false;
    /// Whether its results are in the memory of its operands, or take none.
    bool isInPlace = false;
    /// Whether it reads its operands in memory, whatever its kind.
    bool materializes = false;
    /// Whether it fuses with its readers, and whether it fuses with its
    /// operands.
    bool fuses = false, isFusedReader = false;
    /// The scalar operations of one that fuses, constants among them, and
    /// whether each of several kernels may execute them.
    int64_t numOperations = 0;
    bool isShared = true;
    /// Whether it reduces the last dimensions, or others.
    bool reducesRows = false, reducesColumns = false;
    /// Whether the kernel that computes its operand has a part of it.
    bool isSplit = false;
    /// The time to execute it, if it does not fuse.
    Cost::Count time = 0;
    /// Whether its result may take the memory of an operand.
    bool overwrites = false;
    /// Whether it begins with a copy of the first operand, which fuses with
    /// that, if that is not in memory.
    bool copiesFirst = false;
    /// The further bytes that it needs while it runs.
    Cost::Count temporaryBytes = 0;
  };
  class Timeline;

  unsigned getNumber(Value value);
  void addNode(Operation *op, CostModel &costs);
  /// Sorts the operations of the forward part in the order of their execution;
  /// `firstBackward` is the first operation that depends on a cotangent.
  void sortForward(unsigned firstBackward);
  /// The operations of the forward part that compute `wanted`, by number.
  llvm::BitVector findNeeded(llvm::BitVector wanted) const;

  SmallVector<Node> nodes;
  /// The operations of the forward part, in the order of their execution, and
  /// those that depend on a cotangent.
  SmallVector<unsigned> forward, backward;
  llvm::DenseMap<Value, unsigned> numberOf;
  SmallVector<Value> values;
  /// For each value: the node that computes it, or -1; its bytes; its bytes as
  /// a residual; its elements.
  SmallVector<int> nodeOf;
  SmallVector<int64_t> bytes, savedBytes, elements;
  /// For each value, the scalar operations by which a kernel decodes it.
  SmallVector<int64_t> decoding;
  SmallVector<unsigned> results, gradients, cotangents;
  Cost::Count forwardBytes = 0;
  int64_t launchTime = 0;
  /// Whether a framework executes the function, in which case new operations
  /// are several ones for it.
  bool isExecutedByOthers = false;
  /// How that framework fuses elementwise operations; null if it does not.
  FusionAttr fusion;
  /// Whether an operation of a kernel may write over an operand that another
  /// one reads which does not compute its operands.
  bool overwritesShared = false;
  /// The time of a byte on the link to the host.
  Cost::Count linkTime = 0;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_COSTS_PEAKMODEL_H
