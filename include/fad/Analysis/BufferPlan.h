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

/// The buffer of each tensor that a block computes, as bufferization assigns
/// it: the buffer of a dead operand, if the operation allows that, or a new
/// one. The operations of the block are numbered in their order.
///
/// An elementwise result gets a new buffer once the buffer of the operand has
/// held several tensors, because One-Shot Bufferization compares all tensors of
/// one buffer pairwise.
class BufferPlan {
public:
  enum class Owner {
    /// An operation of the block allocates the buffer.
    Block,
    /// The buffer is an argument that the block may overwrite.
    Argument,
    /// No operation of the block may write to the buffer.
    Other
  };
  struct Buffer {
    /// A tensor that fills the buffer.
    Value value;
    Owner owner;
    /// The first operation during which the buffer exists, and the last one.
    unsigned begin, end;
    /// Whether the terminator of the block returns the buffer.
    bool isReturned = false;
    /// The number of tensors in it, views included.
    unsigned numTensors = 0;
  };

  /// A plan for `block`, whose arguments in `owned` may be overwritten.
  BufferPlan(Block &block, ValueRange owned);

  ArrayRef<Buffer> getBuffers() const { return buffers; }
  /// The operand whose buffer `result` overwrites, or null.
  OpOperand *getReused(OpResult result) const { return reused.lookup(result); }
  /// The number of operations in the block.
  unsigned size() const { return numOps; }

private:
  /// The buffer of a tensor.
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
  /// The buffer of `value`, if it has one.
  const Place *find(Value value) const;
  /// Whether the operation at `position` is the last reader of `operand` and
  /// may overwrite it.
  bool isFree(OpOperand &operand, unsigned position) const;
  /// The operand that `result` can overwrite, or null.
  OpOperand *findReusable(OpResult result, unsigned position) const;
  void noteUse(Buffer &buffer, Value value);

  unsigned numOps = 0;
  SmallVector<Buffer> buffers;
  DenseMap<Value, Place> places;
  /// The number of the last operation that reads each tensor.
  DenseMap<Value, unsigned> lastUses;
  DenseMap<Value, OpOperand *> reused;
  /// Buffers that results of the current operation have taken.
  DenseSet<unsigned> taken;
};

/// Whether the owner of `operand` computes each element of a result from the
/// elements at the same place of its operands, `operand` among them.
bool isReadElementwise(OpOperand &operand);

/// Whether `operand` is an init of its owner.
bool isInit(OpOperand &operand);

/// Whether `op` fills an empty tensor.
bool isFillOfEmpty(Operation *op);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_BUFFERPLAN_H
