//===- CostModel.cpp - Costs of saving and recomputing --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives each value the bytes that keeping it takes, and each operation the time
// that repeating it takes, if the level of recomputation allows that. A value
// that backward has anyway costs no bytes, one with an encoding those of its
// bits. Elementwise operations that read the same tensors share transcendental
// functions, whose time counts once.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "fad/Analysis/Movement.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fad;

/// More than the time of any program whose tensors fit into a memory.
static constexpr Cost::Count kProhibitiveTime = Cost::Count(1) << 80;

//===----------------------------------------------------------------------===//
// Kinds of operations
//===----------------------------------------------------------------------===//

/// Whether repeating `op` has no effect besides its results. Its assertions
/// have held before, and hold again.
static bool isRepeatable(Operation *op) {
  if (isMemoryEffectFree(op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.hasPureTensorSemantics() &&
         llvm::all_of(*structured.getBlock(), [](Operation &inner) {
           return isMemoryEffectFree(&inner) || isa<cf::AssertOp>(inner);
         });
}

bool fad::isReduction(Operation *op) {
  if (auto opaque = dyn_cast<OpaqueOp>(op))
    return opaque.getKind() == OpaqueKind::reduction;
  return isa<linalg::LinalgOp>(op) && !hasContraction(op);
}

bool CostModel::mayRecompute(Operation *op) {
  if (recomputation->contains(op))
    return true;
  if (!isRepeatable(op) || isBetweenCheckpoints(op) ||
      llvm::any_of(op->getResults(), [&](Value v) { return kept.contains(v); }))
    return false;
  if (level == RecomputeLevel::nothing)
    return isElementwise(op) &&
           (op->hasAttr(FadDialect::kAdjointOfAttr) || isCheap(op));
  if (isElementwise(op) || getMovement(op) != Movement::none)
    return true;
  switch (level) {
  case RecomputeLevel::nothing:
  case RecomputeLevel::elementwise:
    return false;
  case RecomputeLevel::reductions:
    return isReduction(op);
  case RecomputeLevel::all:
    return isa<OpaqueOp>(op) ? isReduction(op) : !hasContraction(op);
  case RecomputeLevel::contractions: {
    auto opaque = dyn_cast<OpaqueOp>(op);
    return !opaque || isReduction(op) ||
           opaque.getKind() == OpaqueKind::contraction;
  }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

std::optional<Encoding> CostModel::findEncoding(Value value) {
  return recomputation->isKept(value) ? std::nullopt : encodings.find(value);
}

Cost CostModel::getSaveCost(Value value) {
  std::optional<int64_t> bytes = getBytes(value);
  if (!bytes)
    return {kUnknownBytes, kUnknownBytes};
  Cost::Count traffic = *bytes;
  if (recomputation->isKept(value))
    return {0, 8 * traffic};
  Operation *def = value.getDefiningOp();
  // A view keeps all of the memory that it shares.
  auto opaque = dyn_cast<OpaqueOp>(def);
  if (opaque && (opaque.getKind() == OpaqueKind::view ||
                 opaque.getKind() == OpaqueKind::repeat))
    return Cost::infinite();
  // Forward keeps a value in registers if all its readers fuse with it.
  if (isElementwise(def) && llvm::all_of(value.getUsers(), isElementwise))
    traffic += *bytes;
  // An empty tensor is still one more result.
  Cost cost = {*bytes, std::max<Cost::Count>(1, 8 * traffic)};
  if (std::optional<Encoding> encoding = findEncoding(value)) {
    Cost::Count elements = getElements(value);
    cost.bytes = (elements * encoding->getBits() + 7) / 8;
    cost.time = 16 * cost.bytes + times.getTarget().arithmetic *
                                      encoding->levels.size() * elements;
  }
  return cost;
}

bool CostModel::isCheap(Operation *op) {
  // Often one of several results is read.
  int64_t bytes = 0;
  for (Value result : op->getResults())
    bytes = std::max(bytes, getBytes(result).value_or(0));
  return getRecomputeTime(op) < 8 * Cost::Count(bytes);
}

Cost::Count CostModel::getRecomputeTime(Operation *op) {
  Cost::Count time = times.getTime(op);
  return isApproximation(op) ? time + kProhibitiveTime : time;
}

/// Whether `a` and `b` read the same tensors.
static bool haveSameInputs(ElementwiseOp a, ElementwiseOp b) {
  auto readsAll = [](ElementwiseOp reader, ElementwiseOp of) {
    return llvm::all_of(of.getInputs(), [&](Value input) {
      return llvm::is_contained(reader.getInputs(), input);
    });
  };
  return readsAll(a, b) && readsAll(b, a);
}

SharedWork CostModel::findSharedWork(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOp>(op);
  if (!elementwise || elementwise.getInputs().empty())
    return {};
  // `tensor.dim` reads no elements.
  auto readers = llvm::make_filter_range(
      elementwise.getInputs().front().getUsers(),
      [](Operation *user) { return !isa<tensor::DimOp>(user); });
  if (llvm::hasNItemsOrMore(readers, kManyReaders))
    return {};
  const TargetTimes transcendental = {0, 0, times.getTarget().transcendental};
  int64_t least = getArithmeticTime(op, transcendental);
  if (least == 0)
    return {};
  SharedWork shared;
  llvm::SmallPtrSet<Operation *, 8> sharing;
  for (Operation *user : readers) {
    auto other = dyn_cast<ElementwiseOp>(user);
    if (!other || other->getBlock() != op->getBlock() ||
        !haveSameInputs(elementwise, other))
      continue;
    int64_t time = getArithmeticTime(other, transcendental);
    if (time == 0 || !sharing.insert(other).second)
      continue;
    least = std::min(least, time);
    if (!shared.leader || other->isBeforeInBlock(shared.leader))
      shared.leader = other;
  }
  if (sharing.size() < 2)
    return {};
  shared.time = Cost::Count(least) * getElements(op->getResult(0));
  return shared;
}
