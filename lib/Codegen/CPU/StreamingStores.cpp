//===- StreamingStores.cpp - Stores that bypass the cache -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A store to uncached memory first reads the cache line, unless it is marked as
// non-temporal. Non-temporal stores help memory-bound loops, and cost time if
// the result would have stayed in the cache. Measurements showed losses for
// loops with two results and for loops with much arithmetic.
//
//===----------------------------------------------------------------------===//

#include "VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fad;

/// Smaller results may stay in a cache until they are read.
static constexpr int64_t kMinBytes = 1 << 24;
/// So many operations take less time than memory does.
static constexpr unsigned kMaxOps = 8;

/// A test, at run time, whether `buffer`, whose elements are contiguous, is
/// aligned for stores of vectors of `bits`.
static Value createAlignmentTest(OpBuilder &b, Location loc, Value buffer,
                                 int64_t bits) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  Value mask = arith::ConstantIndexOp::create(b, loc, bits / 8 - 1);
  Value rest = arith::AndIOp::create(b, loc, address, mask);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, zero);
}

Value fad::createStreamTest(OpBuilder &b, linalg::GenericOp op,
                            int64_t vectorBits) {
  if (op.getNumLoops() != 1 || op.getNumParallelLoops() != 1 ||
      op.getNumDpsInits() != 1 ||
      op.getBody()->getOperations().size() > kMaxOps + 1)
    return {};
  Value buffer = op.getDpsInits()[0];
  auto type = cast<MemRefType>(buffer.getType());
  Type element = type.getElementType();
  bool readsItself = !op.getRegionOutputArgs()[0].use_empty() ||
                     llvm::is_contained(op.getDpsInputs(), buffer);
  bool isCheap = llvm::all_of(op.getBody()->without_terminator(), [](auto &op) {
    return isa_and_nonnull<arith::ArithDialect>(op.getDialect());
  });
  if (readsItself || !isCheap || !isa<FloatType, IntegerType>(element) ||
      element.getIntOrFloatBitWidth() < 8 || !type.getLayout().isIdentity())
    return {};
  Location loc = op.getLoc();
  OpFoldResult count =
      cast<linalg::LinalgOp>(*op).createLoopRanges(b, loc)[0].size;
  int64_t least = kMinBytes * 8 / element.getIntOrFloatBitWidth();
  if (std::optional<int64_t> known = getConstantIntValue(count);
      known && *known < least)
    return {};
  Value size = getValueOrCreateConstantIndexOp(b, loc, count);
  Value limit = arith::ConstantIndexOp::create(b, loc, least);
  Value isLarge =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, size, limit);
  Value isAligned = createAlignmentTest(b, loc, buffer, vectorBits);
  return arith::AndIOp::create(b, loc, isLarge, isAligned);
}

void fad::streamStores(RewriterBase &rewriter, Block &block) {
  for (auto write :
       llvm::make_early_inc_range(block.getOps<vector::TransferWriteOp>())) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(write);
    VectorType type = write.getVectorType();
    llvm::Align alignment(type.getNumElements() *
                          type.getElementTypeBitWidth() / 8);
    vector::StoreOp::create(rewriter, write.getLoc(), write.getVector(),
                            write.getBase(), write.getIndices(),
                            /*nontemporal=*/true, alignment);
    rewriter.eraseOp(write);
  }
}

namespace {
/// A fence reads and writes any memory, and allocates none. Upstream keeps
/// scopes of allocations, which take one block, around thread loops with
/// operations of unknown effects.
struct FenceEffects
    : MemoryEffectOpInterface::ExternalModel<FenceEffects, LLVM::FenceOp> {
  void
  getEffects(Operation *,
             SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
};
} // namespace

void fad::registerFenceEffects(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LLVM::LLVMDialect *) {
    LLVM::FenceOp::attachInterface<FenceEffects>(*context);
  });
}

void fad::createStreamFence(OpBuilder &b, Location loc) {
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst);
}
