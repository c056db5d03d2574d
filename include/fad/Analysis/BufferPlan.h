//===- BufferPlan.h - Which tensors share a buffer --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_BUFFERPLAN_H
#define FAD_ANALYSIS_BUFFERPLAN_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::fad {

/// A place for each tensor that a block computes, such as bufferization finds
/// one: in the buffer of an operand that is not read again, where the operation
/// allows that, or in a buffer of its own. The operations of the block are
/// numbered in their order.
///
/// Elementwise results go to a buffer of their own when there have been some
/// tensors in that of the operand: One-Shot Bufferization compares all tensors
/// in one buffer with each other.
class BufferPlan {
public:
  enum class Owner {
    /// An operation of the block makes the buffer.
    Block,
    /// The buffer is an argument that the block may overwrite.
    Argument,
    /// Nobody in the block may write to the buffer.
    Other
  };
  struct Buffer {
    /// A tensor that fills the buffer.
    Value value;
    Owner owner;
    /// The first operation during which the buffer exists, and the last one.
    unsigned begin, end;
    /// Whether the terminator of the block hands the buffer on.
    bool isReturned = false;
    /// How many tensors are in it, views included.
    unsigned numTensors = 0;
  };

  /// A plan for `block`, of the arguments of which those in `owned` may be
  /// overwritten.
  BufferPlan(Block &block, ValueRange owned);

  ArrayRef<Buffer> getBuffers() const { return buffers; }
  /// The operand the buffer of which is written anew with `result`, null where
  /// there is none.
  OpOperand *getReused(OpResult result) const { return reused.lookup(result); }
  /// The number of operations in the block.
  unsigned size() const { return numOps; }

private:
  /// Where a tensor is.
  struct Place {
    unsigned buffer;
    /// Whether the tensor has all elements of the buffer.
    bool isWhole;
  };

  void visit(Operation *op, unsigned position);
  void visitTerminator(Operation *op, unsigned position);
  /// Makes `view` a view of `source`.
  void addView(Value view, Value source, bool isWhole);
  unsigned addBuffer(Value value, Owner owner, unsigned position);
  /// The place of `value`, where it has a buffer.
  const Place *find(Value value) const;
  /// Whether `operand` of the operation at `position` is read there last, and
  /// may be overwritten.
  bool isFree(OpOperand &operand, unsigned position) const;
  /// The operand that `result` can be written over, or null.
  OpOperand *findReusable(OpResult result, unsigned position) const;
  void noteUse(Buffer &buffer, Value value);

  unsigned numOps = 0;
  SmallVector<Buffer> buffers;
  DenseMap<Value, Place> places;
  /// The number of the last operation that reads each tensor.
  DenseMap<Value, unsigned> lastUses;
  DenseMap<Value, OpOperand *> reused;
  /// Buffers that a result of the operation at hand has taken.
  DenseSet<unsigned> taken;
};

/// Whether the owner of `operand` computes each element of a result from the
/// elements at the same place, and `operand` is among what is read so.
bool isReadElementwise(OpOperand &operand);

/// Whether `operand` is what a result of its owner starts from.
bool isInit(OpOperand &operand);

/// Whether `op` fills an empty tensor.
bool isFillOfEmpty(Operation *op);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_BUFFERPLAN_H
