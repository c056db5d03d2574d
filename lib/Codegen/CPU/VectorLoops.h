//===- VectorLoops.h - Vector code for elementwise linalg -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_CPU_VECTORLOOPS_H
#define FAD_LIB_CODEGEN_CPU_VECTORLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fad {

/// Replaces `op`, on buffers, by loops over vectors of `vectorBits` and over
/// the scalars that are left. Where `streams`, an i1 or null, is true, vectors
/// are stored past the cache. Fails, and changes nothing, unless the innermost
/// loop is parallel, the elements along it are neighbours or the same, and the
/// body computes each for itself.
LogicalResult emitVectorLoops(RewriterBase &rewriter, linalg::GenericOp op,
                              int64_t vectorBits, Value streams = {});

/// Whether the result of `op` is too large for caches, at run time, if `op` is
/// a loop that memory makes wait and the buffer of which vectors of
/// `vectorBits` may be stored to past the cache; null otherwise.
Value createStreamTest(OpBuilder &b, linalg::GenericOp op, int64_t vectorBits);

/// Makes what `block` writes go past the cache.
void streamStores(RewriterBase &rewriter, Block &block);

/// Other threads see such stores before those that follow.
void createStreamFence(OpBuilder &b, Location loc);

/// Says what such a fence does, which upstream does not.
void registerFenceEffects(DialectRegistry &registry);

/// The same where the innermost loop is a reduction, which vectors compute in
/// parts: in another order than loops over elements, one that depends on
/// nothing but the number of lanes.
LogicalResult emitVectorReduction(RewriterBase &rewriter, linalg::GenericOp op,
                                  int64_t vectorBits);

/// Whether the elements of `operand` along the innermost loop are neighbours in
/// memory or, for what is read, one element.
bool isContiguous(linalg::GenericOp op, OpOperand &operand);

/// Whether the body of `op` computes each element of a vector for itself.
bool hasVectorizableBody(linalg::GenericOp op);

/// The widest number that `op` computes with, in bits.
int64_t getWidestBits(linalg::GenericOp op);

/// The part of `operand` that `op` touches in `size` iterations of the
/// innermost loop from `ivs` on, with no other dimension than that one.
Value slice(OpBuilder &b, linalg::GenericOp op, OpOperand &operand,
            ArrayRef<OpFoldResult> ivs, OpFoldResult size);

/// The innermost loop of an operation, in loops for the others.
struct InnerLoop {
  SmallVector<OpFoldResult> outerIVs;
  OpFoldResult size;

  /// The greatest multiple of `lanes` that is not above the size.
  OpFoldResult roundDown(OpBuilder &b, Location loc, int64_t lanes) const;
};

/// Emits all loops of `op` but the innermost one, and goes on inside.
InnerLoop emitOuterLoops(RewriterBase &rewriter, linalg::GenericOp op);

/// Emits a loop over the elements that vectors of `lanes` leave.
void emitRest(RewriterBase &rewriter, linalg::GenericOp op,
              const InnerLoop &loop, int64_t lanes);

/// Splits operations of `block` on vectors of `lanes` numbers, element by
/// element, into operations on the numbers at even places and at odd ones.
void splitLanes(RewriterBase &rewriter, Block &block, int64_t lanes);

/// Lowers what emitVectorLoops leaves of transfers to loads and stores.
void populateVectorLoopPatterns(RewritePatternSet &patterns);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_CPU_VECTORLOOPS_H
