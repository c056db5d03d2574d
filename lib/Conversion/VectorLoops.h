//===- VectorLoops.h - Vector code for elementwise linalg -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CONVERSION_VECTORLOOPS_H
#define FAD_LIB_CONVERSION_VECTORLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fad {

/// Replaces `op`, on buffers, by loops over vectors of `vectorBits` and over
/// the scalars that are left. Fails, and changes nothing, unless all loops are
/// parallel, the elements along the innermost one are neighbours or the same,
/// and the body computes each for itself.
LogicalResult emitVectorLoops(RewriterBase &rewriter, linalg::GenericOp op,
                              int64_t vectorBits);

/// Splits operations of `block` on vectors of `lanes` numbers, element by
/// element, into operations on the numbers at even places and at odd ones.
void splitLanes(RewriterBase &rewriter, Block &block, int64_t lanes);

/// Lowers what emitVectorLoops leaves of transfers to loads and stores.
void populateVectorLoopPatterns(RewritePatternSet &patterns);

} // namespace mlir::fad

#endif // FAD_LIB_CONVERSION_VECTORLOOPS_H
