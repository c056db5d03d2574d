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
/// the remaining scalars. Where `streams`, an i1 or null, is true, stores of
/// vectors bypass the cache. Fails, and changes nothing, unless the innermost
/// loop is parallel, its elements are contiguous or the same, and the body
/// computes each element independently.
LogicalResult emitVectorLoops(RewriterBase &rewriter, linalg::GenericOp op,
                              int64_t vectorBits, Value streams = {});

/// Emits a test whether the result of `op` exceeds the caches at run time. Null
/// unless `op` is memory-bound and vectors of `vectorBits` can be stored past
/// the cache.
Value createStreamTest(OpBuilder &b, linalg::GenericOp op, int64_t vectorBits);

/// Makes the stores in `block` bypass the cache.
void streamStores(RewriterBase &rewriter, Block &block);

/// Emits a fence that orders such stores before later stores.
void createStreamFence(OpBuilder &b, Location loc);

/// Registers the side effects of such a fence, which upstream lacks.
void registerFenceEffects(DialectRegistry &registry);

/// Why no vectors of `vectorBits` compute the elements of `op`, on buffers;
/// empty if vectors do.
StringRef explainElements(linalg::GenericOp op, int64_t vectorBits);

/// Replaces `op`, on buffers, by loops that hold the results in registers and
/// may be reassociated. The results of f16 and bf16 are combined in f32, and
/// rounded once. Fails, and changes nothing, unless the innermost loop is a
/// reduction.
LogicalResult emitReduction(RewriterBase &rewriter, linalg::GenericOp op);

/// The innermost loop of an operation, nested in its other loops.
struct InnerLoop {
  SmallVector<OpFoldResult> outerIVs;
  OpFoldResult size;
};

/// Emits all loops of `op` but the innermost one; the insertion point moves
/// inside.
InnerLoop emitOuterLoops(RewriterBase &rewriter, linalg::GenericOp op);

/// Splits elementwise operations of `block` on vectors of `lanes` numbers into
/// operations on the even and the odd lanes.
void splitLanes(RewriterBase &rewriter, Block &block, int64_t lanes);

/// Lowers the vector transfers of emitVectorLoops to loads and stores.
void populateVectorLoopPatterns(RewritePatternSet &patterns);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_CPU_VECTORLOOPS_H
