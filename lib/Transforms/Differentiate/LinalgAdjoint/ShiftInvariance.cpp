//===- ShiftInvariance.cpp - Invariance under shifts ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgAdjoint.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The change of a scalar if c is added to an element of the analyzed tensor:
/// the addition of c * degree, or the multiplication by exp(c * degree). Degree
/// 0 means no change in both cases.
struct Change {
  int64_t degree = 0;
  bool isScaled = false;

  bool isNone() const { return degree == 0; }
};

/// The change of the elements of a tensor: the same kind for all. The indices
/// of `dims` select the element of the analyzed tensor to which c is added, in
/// the order of its own dimensions; those of size 1 are left out.
struct TensorChange {
  Change change;
  SmallVector<int64_t> dims;
};

/// The changes of all tensors that depend on the analyzed one.
class Analysis {
public:
  bool run(Value value);

private:
  /// Removes the first operation of the worklist, whose operands are all known.
  Operation *takeFirst();
  /// Computes the changes of the results of `op`. Returns false if they are
  /// unknown.
  bool visit(Operation *op);
  bool visitView(Operation *op, ArrayRef<ReassociationIndices> groups,
                 bool expands);
  bool visitElementwise(fad::ElementwiseOp op);
  bool visitStructured(linalg::LinalgOp op);
  const TensorChange *find(Value value) const {
    auto it = changes.find(value);
    return it == changes.end() ? nullptr : &it->second;
  }
  void record(Value value, TensorChange change);

  llvm::DenseMap<Value, TensorChange> changes;
  /// Operations with changed operands that were not visited yet.
  llvm::SetVector<Operation *> worklist;
};
} // namespace

/// The dimension of `expanded` in `group` that is not of size 1; nothing unless
/// exactly one is.
static std::optional<int64_t> findInGroup(ArrayRef<int64_t> group,
                                          RankedTensorType expanded) {
  std::optional<int64_t> found;
  for (int64_t dim : group) {
    if (expanded.getDimSize(dim) == 1)
      continue;
    if (found)
      return std::nullopt;
    found = dim;
  }
  return found;
}

void Analysis::record(Value value, TensorChange change) {
  if (change.change.isNone())
    return;
  for (Operation *user : value.getUsers())
    if (!user->hasAttr(FadDialect::kAdjointOfAttr) && !isa<tensor::DimOp>(user))
      worklist.insert(user);
  changes[value] = std::move(change);
}

bool Analysis::visitView(Operation *op, ArrayRef<ReassociationIndices> groups,
                         bool expands) {
  const TensorChange *source = find(op->getOperand(0));
  Value wide = expands ? op->getResult(0) : op->getOperand(0);
  auto expanded = cast<RankedTensorType>(wide.getType());
  TensorChange result{source->change, {}};
  for (int64_t dim : source->dims) {
    // On the other side, the dimension of the group that is not of size 1.
    std::optional<int64_t> other;
    for (auto [collapsed, group] : llvm::enumerate(groups)) {
      std::optional<int64_t> only = findInGroup(group, expanded);
      if (expands && dim == static_cast<int64_t>(collapsed))
        other = only;
      else if (!expands && only == dim)
        other = collapsed;
    }
    if (!other)
      return false;
    result.dims.push_back(*other);
  }
  record(op->getResult(0), result);
  return true;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The change of the result of `op` for operands with changes `in`; nothing if
/// it is unknown.
static std::optional<Change> combine(Operation *op, ArrayRef<Change> in) {
  if (llvm::all_of(in, [](const Change &change) { return change.isNone(); }))
    return Change();
  auto isShift = [](const Change &change) {
    return change.isNone() || !change.isScaled;
  };
  auto isScale = [](const Change &change) {
    return change.isNone() || change.isScaled;
  };
  if (isa<arith::AddFOp, arith::SubFOp>(op) && llvm::all_of(in, isShift)) {
    int64_t sign = isa<arith::SubFOp>(op) ? -1 : 1;
    return Change{in[0].degree + sign * in[1].degree, false};
  }
  if (isa<arith::MulFOp, arith::DivFOp>(op) && llvm::all_of(in, isScale)) {
    int64_t sign = isa<arith::DivFOp>(op) ? -1 : 1;
    return Change{in[0].degree + sign * in[1].degree, true};
  }
  if (isa<arith::AddFOp, arith::SubFOp>(op) && in[0].isScaled &&
      in[1].isScaled && in[0].degree == in[1].degree)
    return in[0];
  if (isa<arith::NegFOp>(op))
    return Change{in[0].isScaled ? in[0].degree : -in[0].degree,
                  in[0].isScaled};
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return in[0];
  if (isa<math::ExpOp>(op) && isShift(in[0]))
    return Change{in[0].degree, true};
  if (isa<math::LogOp>(op) && isScale(in[0]))
    return Change{in[0].degree, false};
  return std::nullopt;
}

/// Propagates the changes of the arguments of `body` to the yielded values,
/// through `changes`. `terms` gives the operand that operations add to a sum
/// that begins at zero.
static bool followBody(Block &body, llvm::DenseMap<Value, Change> &changes,
                       const llvm::DenseMap<Operation *, Value> &terms) {
  for (Operation &op : body.without_terminator()) {
    if (op.getNumRegions() != 0)
      return false;
    std::optional<Change> change;
    if (Value term = terms.lookup(&op)) {
      // The sum is scaled in the same way as its terms.
      change = changes.lookup(term);
      if (!change->isNone() && !change->isScaled)
        return false;
    } else {
      SmallVector<Change> in;
      for (Value operand : op.getOperands())
        in.push_back(changes.lookup(operand));
      change = combine(&op, in);
    }
    if (!change)
      return false;
    for (Value result : op.getResults())
      changes[result] = *change;
  }
  return true;
}

bool Analysis::visitElementwise(fad::ElementwiseOp op) {
  llvm::DenseMap<Value, Change> inBody;
  const TensorChange *source = nullptr;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    const TensorChange *change = find(input);
    if (!change)
      continue;
    if (source && source->dims != change->dims)
      return false;
    source = change;
    inBody[op.getBodyArgument(index)] = change->change;
  }
  llvm::DenseMap<Operation *, Value> noTerms;
  if (!source || !followBody(*op.getBodyBlock(), inBody, noTerms))
    return false;
  SmallVector<int64_t> dims = source->dims;
  for (auto [result, yielded] :
       llvm::zip_equal(op.getResults(), op.getYield().getOperands()))
    record(result, {inBody.lookup(yielded), dims});
  return true;
}

/// The loops that index `dims` through `map`; nothing for other indices.
static std::optional<SmallVector<unsigned>> findLoops(AffineMap map,
                                                      ArrayRef<int64_t> dims) {
  SmallVector<unsigned> loops;
  for (int64_t dim : dims) {
    auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
    if (!loop)
      return std::nullopt;
    loops.push_back(loop.getPosition());
  }
  return loops;
}

/// Whether the accumulation into `init` begins at zero.
static bool isZero(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getInputs()[0];
  return matchPattern(init, m_AnyZeroFloat());
}

/// The operations in the body of `op` that add to a result, with their terms.
/// Returns false for other combinations.
static bool findTerms(linalg::LinalgOp op,
                      llvm::DenseMap<Operation *, Value> &terms) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    BlockArgument out = op.getMatchingBlockArgument(&init);
    if (out.use_empty())
      continue;
    unsigned index = init.getOperandNumber() - op.getNumDpsInputs();
    Value yielded = op.getBlock()->getTerminator()->getOperand(index);
    auto add = yielded.getDefiningOp<arith::AddFOp>();
    if (!add || !out.hasOneUse() || *out.user_begin() != add ||
        !isZero(init.get()))
      return false;
    terms[add] = add.getLhs() == out ? add.getRhs() : add.getLhs();
  }
  return true;
}

bool Analysis::visitStructured(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return false;
  llvm::DenseMap<Value, Change> inBody;
  std::optional<SmallVector<unsigned>> loops;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    const TensorChange *change = find(operand->get());
    if (!change)
      continue;
    auto found = findLoops(op.getMatchingIndexingMap(operand), change->dims);
    if (!found || (loops && *loops != *found))
      return false;
    loops = found;
    inBody[op.getMatchingBlockArgument(operand)] = change->change;
  }
  // Else the value is read from inside of the body, or is an init.
  llvm::DenseMap<Operation *, Value> terms;
  if (!loops || !findTerms(op, terms) ||
      !followBody(*op.getBlock(), inBody, terms))
    return false;
  for (auto [index, yielded] :
       llvm::enumerate(op.getBlock()->getTerminator()->getOperands())) {
    TensorChange result{inBody.lookup(yielded), {}};
    if (result.change.isNone())
      continue;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(index));
    for (unsigned loop : *loops) {
      auto dim = map.getResultPosition(getAffineDimExpr(loop, op.getContext()));
      if (!dim)
        return false;
      result.dims.push_back(*dim);
    }
    record(op->getResult(index), result);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

bool Analysis::visit(Operation *op) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return visitView(op, expand.getReassociationIndices(), /*expands=*/true);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return visitView(op, collapse.getReassociationIndices(),
                     /*expands=*/false);
  if (auto elementwise = dyn_cast<fad::ElementwiseOp>(op))
    return visitElementwise(elementwise);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return visitStructured(structured);
  return false;
}

Operation *Analysis::takeFirst() {
  Operation *first = worklist.front();
  for (Operation *op : worklist.getArrayRef().drop_front())
    if (op->isBeforeInBlock(first))
      first = op;
  worklist.remove(first);
  return first;
}

bool Analysis::run(Value value) {
  // Values that leave the body of a loop or a branch are not followed; in a
  // clone of a body, their uses are unknown.
  if (!isa<FunctionOpInterface>(value.getParentBlock()->getParentOp()))
    return false;
  auto type = cast<RankedTensorType>(value.getType());
  TensorChange shifted{{/*degree=*/1, /*isScaled=*/false}, {}};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      shifted.dims.push_back(dim);
  record(value, shifted);
  while (!worklist.empty()) {
    for (Operation *op : worklist)
      if (op->getBlock() != value.getParentBlock())
        return false;
    if (!visit(takeFirst()))
      return false;
  }
  return true;
}

bool fad::isInvariantToShift(Value value) { return Analysis().run(value); }
