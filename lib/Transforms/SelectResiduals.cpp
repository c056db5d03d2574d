//===- SelectResiduals.cpp - Decide what crosses to backward --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Residuals/CostModel.h"
#include "Residuals/DerivedValues.h"
#include "Residuals/Encoding.h"
#include "Residuals/LeastResiduals.h"
#include "Residuals/Recomputation.h"
#include "fad/Transforms/ElementwiseUtils.h"
#include "fad/Transforms/JointFunction.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Tape.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSELECTRESIDUALS
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// A size: dimension `dim` of `value` or, where `dim` is negative, the index
/// `value` itself.
using SizeKey = std::pair<Value, int64_t>;
} // namespace

/// Follows the size of dimension `dim` of `tensor` one step to where it comes
/// from; returns it as it is where that is its origin.
static SizeKey followSize(Value tensor, int64_t dim) {
  Operation *def = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(def)) {
    if (!empty.getType().isDynamicDim(dim))
      return {tensor, dim};
    Value size = empty.getDynamicSize(dim);
    auto dimOp = size.getDefiningOp<tensor::DimOp>();
    if (!dimOp || !dimOp.getConstantIndex())
      return {size, -1};
    return {dimOp.getSource(), *dimOp.getConstantIndex()};
  }
  if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(def))
    return {destination.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim};
  if (auto elementwise = dyn_cast_or_null<ElementwiseOp>(def))
    return {elementwise.getShapeOperand(), dim};
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(def))
    return {cast.getSource(), dim};
  if (auto residual = dyn_cast_or_null<ResidualOp>(def))
    return {residual.getValue(), dim};
  return {tensor, dim};
}

namespace {
/// Where sizes come from, so that equal sizes get equal keys. Each step is
/// taken once: in a deep network many sizes come from far away.
class SizeOrigins {
public:
  SizeKey find(Value tensor, int64_t dim) {
    SmallVector<SizeKey> path;
    SizeKey key = {tensor, dim};
    while (key.second >= 0) {
      auto it = origins.find(key);
      SizeKey next =
          it == origins.end() ? followSize(key.first, key.second) : it->second;
      if (next == key)
        break;
      path.push_back(key);
      key = next;
    }
    for (SizeKey &step : path)
      origins[step] = key;
    return key;
  }

private:
  DenseMap<SizeKey, SizeKey> origins;
};
} // namespace

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

namespace {
/// Makes backward read primal values through residuals only.
class Selector {
public:
  Selector(const JointFunction &joint, const FadSelectResidualsOptions &options)
      : joint(joint), policy(options.policy), options(options),
        recomputation(joint), rewriter(joint.getFunction().getContext()) {}

  void run();

private:
  /// The value that backward reads in place of the primal `value`; `reason`
  /// says why, if it has to be saved.
  Value materialize(Value value, StringRef reason);
  /// Saves `value`.
  Value save(Value value, StringRef reason);
  /// Saves `value`, in few bits if it takes few values and the policy looks for
  /// that.
  Value saveEncoded(Value value, StringRef reason);
  /// The dynamic sizes of `tensor`, in backward.
  SmallVector<Value> makeSizesOf(Value tensor);
  /// The builder, at the end of the forward part.
  OpBuilder &appendToForward();
  /// Computes `op` again in backward, from operands that are there already.
  void recompute(Operation *op);
  /// A tensor of the type and size of `tensor`, in backward.
  Value makeEmptyLike(Value tensor);
  bool isRecomputed(Operation *op) const;
  /// Whether `value` is saved, rather than computed again.
  bool isSaved(Value value) const;
  /// Calls `callback` on each primal value that backward reads.
  void forEachPrimal(llvm::function_ref<void(OpOperand &)> callback);
  /// Decides what is saved under the policy `auto`.
  void chooseLeast();
  /// Decides what is computed again although the policy would save it.
  void findDerivedValues();
  /// Moves the operations that depend on a cotangent after the others.
  void sortBackward();
  /// Gives each size that backward reads a tensor in backward that has it.
  void resolveSizes();
  /// Names, at each residual, the operations whose adjoints read it.
  void nameConsumers();

  JointFunction joint;
  Policy policy;
  FadSelectResidualsOptions options;
  Recomputation recomputation;
  /// What is saved under the policy `auto`.
  DenseSet<Value> chosen;
  /// What is computed again because it derives from something that is kept.
  DenseSet<Operation *> derived;
  IRRewriter rewriter;
  SmallVector<Operation *> backward;
  /// The last operation of the forward part, residuals included; null where
  /// there is none.
  Operation *forwardEnd = nullptr;
  /// What backward computes again goes before this operation.
  Operation *boundary = nullptr;
  DenseMap<Value, Value> materialized;
  SmallVector<ResidualOp> residuals;
  /// `tensor.dim`s in backward that still read a primal tensor.
  SmallVector<tensor::DimOp> pendingSizes;
};
} // namespace

Value Selector::save(Value value, StringRef reason) {
  if (llvm::is_contained(joint.getArguments(), value))
    reason = "argument";
  else if (llvm::is_contained(joint.getResults(), value))
    reason = "result";
  auto residual = ResidualOp::create(appendToForward(), value.getLoc(), value,
                                     rewriter.getStrArrayAttr({}),
                                     rewriter.getStringAttr(reason));
  forwardEnd = residual;
  residuals.push_back(residual);
  return residual;
}

OpBuilder &Selector::appendToForward() {
  if (forwardEnd)
    rewriter.setInsertionPointAfter(forwardEnd);
  else
    rewriter.setInsertionPointToStart(boundary->getBlock());
  return rewriter;
}

Value Selector::saveEncoded(Value value, StringRef reason) {
  std::optional<Encoding> encoding;
  if (policy == Policy::automatic && !recomputation.isKept(value))
    encoding = findEncoding(value);
  if (!encoding)
    return save(value, reason);
  // Next to the value, not to lengthen its life.
  Operation *def = value.getDefiningOp();
  rewriter.setInsertionPointAfter(def);
  Value bytes = encode(rewriter, value, *encoding);
  if (forwardEnd == def)
    forwardEnd = bytes.getDefiningOp();
  std::string bits =
      llvm::formatv("{0}, {1} bit{2} an element", reason, encoding->getBits(),
                    encoding->getBits() == 1 ? "" : "s");
  bytes = save(bytes, bits);
  SmallVector<Value> sizes = makeSizesOf(value);
  rewriter.setInsertionPoint(boundary);
  return decode(rewriter, value.getLoc(), bytes,
                cast<RankedTensorType>(value.getType()), sizes, *encoding);
}

SmallVector<Value> Selector::makeSizesOf(Value tensor) {
  rewriter.setInsertionPoint(boundary);
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    pendingSizes.push_back(
        tensor::DimOp::create(rewriter, tensor.getLoc(), tensor, dim));
    sizes.push_back(pendingSizes.back());
  }
  return sizes;
}

Value Selector::makeEmptyLike(Value tensor) {
  SmallVector<Value> sizes = makeSizesOf(tensor);
  return tensor::EmptyOp::create(rewriter, tensor.getLoc(), tensor.getType(),
                                 sizes);
}

void Selector::recompute(Operation *op) {
  IRMapping mapping;
  forEachOutsideOperand(op, [&](OpOperand &operand) {
    if (isOverwritten(operand))
      mapping.map(operand.get(), makeEmptyLike(operand.get()));
  });
  forEachReadOperand(op, [&](Value operand) {
    mapping.map(operand, materialized.lookup(operand));
  });
  rewriter.setInsertionPoint(boundary);
  Operation *clone = rewriter.clone(*op, mapping);
  clone->removeAttr(FadDialect::kAdjointOfAttr);
  if (auto size = dyn_cast<tensor::DimOp>(clone))
    if (size.getConstantIndex())
      pendingSizes.push_back(size);
  for (auto [original, copy] : llvm::zip(op->getResults(), clone->getResults()))
    materialized.try_emplace(original, copy);
}

bool Selector::isRecomputed(Operation *op) const {
  if (recomputation.contains(op) || derived.contains(op))
    return true;
  if (!isa<ElementwiseOp>(op))
    return false;
  switch (policy) {
  case Policy::bp:
    return op->hasAttr(FadDialect::kAdjointOfAttr);
  case Policy::recompute:
    return true;
  case Policy::fad:
    return false;
  case Policy::automatic:
    llvm_unreachable("values are chosen one by one");
  }
  return false;
}

bool Selector::isSaved(Value value) const {
  if (policy == Policy::automatic)
    return chosen.contains(value);
  Operation *def = value.getDefiningOp();
  return !def || !isRecomputed(def) ||
         (isa<ElementwiseOp>(def) &&
          llvm::is_contained(joint.getResults(), value));
}

Value Selector::materialize(Value value, StringRef reason) {
  // Depth first, without recursion: programs are deep.
  SmallVector<std::pair<Value, StringRef>> stack = {{value, reason}};
  while (!stack.empty()) {
    auto [current, why] = stack.back();
    if (materialized.contains(current)) {
      stack.pop_back();
      continue;
    }
    Operation *def = current.getDefiningOp();
    if (isSaved(current)) {
      if (isa_and_nonnull<ElementwiseOp>(def) &&
          def->hasAttr(FadDialect::kAdjointOfAttr) &&
          isa<FloatType>(getElementTypeOrSelf(current)))
        why = "derivative of a region";
      materialized[current] = saveEncoded(current, why);
      continue;
    }
    StringRef operandReason = "read by an adjoint";
    if (isa<ElementwiseOp>(def))
      operandReason =
          policy == Policy::bp ? "value on the tape" : "source of a region";
    size_t size = stack.size();
    forEachReadOperand(def, [&](Value operand) {
      if (!materialized.contains(operand))
        stack.emplace_back(operand, operandReason);
    });
    if (stack.size() == size)
      recompute(def);
    else
      std::reverse(stack.begin() + size, stack.end());
  }
  return materialized.lookup(value);
}

void Selector::sortBackward() {
  backward = llvm::to_vector(joint.getBackward());
  Operation *terminator = joint.getReturn();
  for (Operation *op : backward)
    op->moveBefore(terminator);
  boundary = backward.empty() ? terminator : backward.front();
  forwardEnd = boundary->getPrevNode();
}

void Selector::resolveSizes() {
  // Cotangents are there anyway; residuals are there by now.
  llvm::DenseMap<SizeKey, SizeKey> available;
  SizeOrigins origins;
  auto offer = [&](Value primal, Value tensor) {
    auto type = dyn_cast<RankedTensorType>(primal.getType());
    if (!type)
      available.try_emplace({primal, -1}, tensor, -1);
    for (int64_t dim = 0, rank = type ? type.getRank() : 0; dim < rank; ++dim)
      available.try_emplace(origins.find(primal, dim), tensor, dim);
  };
  for (auto [index, cotangent] : llvm::enumerate(joint.getCotangents()))
    offer(joint.getResultOf(index), cotangent);
  for (ResidualOp residual : residuals)
    offer(residual.getValue(), residual);

  for (tensor::DimOp size : pendingSizes) {
    SizeKey key = origins.find(size.getSource(), *size.getConstantIndex());
    auto it = available.find(key);
    if (it == available.end()) {
      Value index = key.first;
      if (key.second >= 0) {
        forwardEnd = tensor::DimOp::create(appendToForward(), size.getLoc(),
                                           key.first, key.second);
        index = forwardEnd->getResult(0);
      }
      it = available.try_emplace(key, save(index, "size"), -1).first;
    }
    auto [tensor, dim] = it->second;
    Value replacement = tensor;
    if (dim >= 0) {
      rewriter.setInsertionPoint(size);
      replacement = tensor::DimOp::create(rewriter, size.getLoc(), tensor, dim);
    }
    rewriter.replaceOp(size, replacement);
  }
}

void Selector::nameConsumers() {
  for (ResidualOp residual : residuals) {
    llvm::SetVector<Operation *> readers;
    llvm::SetVector<StringRef> names;
    SmallVector<Value> worklist = {residual.getResult()};
    while (!worklist.empty()) {
      for (Operation *user : worklist.pop_back_val().getUsers()) {
        user = joint.getFunction().front().findAncestorOpInBlock(*user);
        if (!readers.insert(user))
          continue;
        if (auto name =
                user->getAttrOfType<StringAttr>(FadDialect::kAdjointOfAttr))
          names.insert(name);
        else
          llvm::append_range(worklist, user->getResults());
      }
    }
    residual.setNeededByAttr(rewriter.getStrArrayAttr(names.getArrayRef()));
  }
}

void Selector::forEachPrimal(llvm::function_ref<void(OpOperand &)> callback) {
  // Only operands that are primal: not cotangents, not computed in backward.
  DenseSet<Value> known(joint.getCotangents().begin(),
                        joint.getCotangents().end());
  for (Operation *op : backward)
    known.insert(op->result_begin(), op->result_end());
  auto visit = [&](OpOperand &operand) {
    if (!known.contains(operand.get()))
      callback(operand);
  };
  for (Operation *op : backward)
    forEachOutsideOperand(op, visit);
  func::ReturnOp terminator = joint.getReturn();
  for (OpOperand &operand : terminator->getOpOperands())
    if (joint.getFunction().getResultAttr(operand.getOperandNumber(),
                                          FadDialect::kGradientAttr))
      visit(operand);
}

void Selector::findDerivedValues() {
  llvm::SetVector<Value> reached;
  forEachPrimal([&](OpOperand &operand) { reached.insert(operand.get()); });
  SmallVector<Value> saved;
  for (unsigned next = 0; next < reached.size(); ++next) {
    if (isSaved(reached[next]))
      saved.push_back(reached[next]);
    else
      forEachReadOperand(reached[next].getDefiningOp(),
                         [&](Value operand) { reached.insert(operand); });
  }
  derived = findDerived(
      saved, {policy, [&](Operation *op) { return isRecomputed(op); },
              [&](Value value) { return recomputation.isAlive(value); }});
}

void Selector::chooseLeast() {
  llvm::SetVector<Value> read;
  forEachPrimal([&](OpOperand &operand) { read.insert(operand.get()); });
  CostModel costs(recomputation, options.recompute, options.assumedSize);
  chosen = findLeastResiduals(read.getArrayRef(), costs).saved;
}

void Selector::run() {
  sortBackward();
  if (policy == Policy::automatic)
    chooseLeast();
  // A tape keeps what each adjoint reads.
  else if (policy != Policy::bp)
    findDerivedValues();
  forEachPrimal([&](OpOperand &operand) {
    operand.set(materialize(operand.get(), "read by an adjoint"));
  });
  resolveSizes();
  nameConsumers();
  eraseDeadOps(joint.getFunction().front());
}

namespace {
struct FadSelectResidualsPass
    : fad::impl::FadSelectResidualsBase<FadSelectResidualsPass> {
  using FadSelectResidualsBase::FadSelectResidualsBase;

  /// An earlier selection makes way for this one.
  static void dropResiduals(func::FuncOp function) {
    IRRewriter rewriter(function.getContext());
    for (auto residual :
         llvm::make_early_inc_range(function.front().getOps<ResidualOp>()))
      rewriter.replaceOp(residual, residual.getValue());
  }

  /// The marks have served, and would keep equal operations apart.
  static void dropTape(func::FuncOp function) {
    IRRewriter rewriter(function.getContext());
    function.walk([&](ElementwiseOp op) {
      for (Operation &inner : *op.getBodyBlock())
        inner.removeAttr(FadDialect::kTapeAttr);
      simplifyBody(rewriter, op);
    });
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!JointFunction::isJoint(function))
      return;
    if (assumedSize < 1) {
      function.emitError("assumed-size is ")
          << assumedSize.getValue() << "; give a size of at least 1";
      return signalPassFailure();
    }
    if (failed(JointFunction::get(function)))
      return signalPassFailure();
    dropResiduals(function);
    if (policy == Policy::bp)
      exposeTape(function);
    Selector(*JointFunction::get(function), {policy, recompute, assumedSize})
        .run();
    dropTape(function);
  }
};
} // namespace
