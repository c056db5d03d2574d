//===- Materialize.cpp - Residuals and recomputation in the IR ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a selection into the joint function. From each forward value that
// backward reads, a search goes through operands to saved values, each of which
// gets a `fad.residual`; the operations on the way are cloned into backward.
// Sizes that backward needs are then read from a tensor there with the same
// size, or else saved as numbers.
//
//===----------------------------------------------------------------------===//

#include "Materialize.h"
#include "fad/Analysis/SizeOrigins.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

void fad::forEachPrimalRead(const JointFunction &joint,
                            llvm::function_ref<void(OpOperand &)> callback) {
  // Only operands that are primal: not cotangents, not computed in backward.
  DenseSet<Value> known(joint.getCotangents().begin(),
                        joint.getCotangents().end());
  SmallVector<Operation *> backward = joint.getBackward();
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

llvm::SetVector<Value> fad::findReadValues(const JointFunction &joint) {
  llvm::SetVector<Value> read;
  forEachPrimalRead(joint,
                    [&](OpOperand &operand) { read.insert(operand.get()); });
  return read;
}

namespace {
/// Makes backward read values of the forward part through residuals only.
class Materializer {
public:
  Materializer(const JointFunction &joint, const ResidualChoice &choice)
      : joint(joint), choice(choice),
        rewriter(joint.getFunction().getContext()),
        arguments(llvm::from_range, joint.getArguments()),
        results(llvm::from_range, joint.getResults()) {}

  void run();

private:
  /// The value that backward reads in place of the primal `value`; `reason` is
  /// recorded if it is saved.
  Value materialize(Value value, ResidualReason reason);
  /// Saves `value`.
  Value save(Value value, ResidualReason reason);
  /// Saves `value` the way that has been chosen for it.
  Value saveEncoded(Value value, ResidualReason reason);
  /// The dynamic sizes of `tensor`, in backward.
  SmallVector<Value> makeSizesOf(Value tensor);
  /// The builder, at the end of the forward part.
  OpBuilder &appendToForward();
  /// Computes `op` again in backward, from operands that are there already.
  void recompute(Operation *op);
  /// A tensor of the type and size of `tensor`, in backward.
  Value makeEmptyLike(Value tensor);
  /// Moves the operations that depend on a cotangent after the others.
  void sortBackward();
  /// Finds, for each size that backward reads, a tensor in backward of that
  /// size.
  void resolveSizes();
  /// Names, at each residual, the operations whose adjoints read it.
  void nameConsumers();

  const JointFunction &joint;
  const ResidualChoice &choice;
  IRRewriter rewriter;
  DenseSet<Value> arguments, results;
  /// The last operation of the forward part, residuals included; null if there
  /// is none.
  Operation *forwardEnd = nullptr;
  /// Repeated operations go before this operation.
  Operation *boundary = nullptr;
  DenseMap<Value, Value> materialized;
  SmallVector<ResidualOp> residuals;
  /// `tensor.dim`s in backward that still read a primal tensor.
  SmallVector<tensor::DimOp> pendingSizes;
};
} // namespace

Value Materializer::save(Value value, ResidualReason reason) {
  if (arguments.contains(value))
    reason.text = "argument";
  else if (results.contains(value))
    reason.text = "result";
  FloatAttr largest, meanSquare;
  if (reason.error) {
    largest = rewriter.getF64FloatAttr(reason.error->largest);
    meanSquare = rewriter.getF64FloatAttr(reason.error->meanSquare);
  }
  auto residual = ResidualOp::create(
      appendToForward(), value.getLoc(), value, rewriter.getStrArrayAttr({}),
      rewriter.getStringAttr(reason.text), largest, meanSquare,
      choice.getPlace(value));
  forwardEnd = residual;
  residuals.push_back(residual);
  return residual;
}

OpBuilder &Materializer::appendToForward() {
  if (forwardEnd)
    rewriter.setInsertionPointAfter(forwardEnd);
  else
    rewriter.setInsertionPointToStart(boundary->getBlock());
  return rewriter;
}

Value Materializer::saveEncoded(Value value, ResidualReason reason) {
  std::optional<Encoding> encoding = choice.getEncoding(value);
  if (!encoding)
    return save(value, reason);
  // Next to the value, not to lengthen its life.
  Operation *def = value.getDefiningOp();
  rewriter.setInsertionPointAfter(def);
  Value bytes = encode(rewriter, value, *encoding);
  if (forwardEnd == def)
    forwardEnd = bytes.getDefiningOp();
  std::string text = (reason.text + ", " + encoding->describe()).str();
  if (!encoding->isExact())
    reason.error = encoding->error;
  bytes = save(bytes, {text, reason.error});
  SmallVector<Value> sizes = makeSizesOf(value);
  rewriter.setInsertionPoint(boundary);
  return decode(rewriter, value.getLoc(), bytes,
                cast<RankedTensorType>(value.getType()), sizes, *encoding);
}

SmallVector<Value> Materializer::makeSizesOf(Value tensor) {
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

Value Materializer::makeEmptyLike(Value tensor) {
  SmallVector<Value> sizes = makeSizesOf(tensor);
  return tensor::EmptyOp::create(rewriter, tensor.getLoc(), tensor.getType(),
                                 sizes);
}

void Materializer::recompute(Operation *op) {
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

Value Materializer::materialize(Value value, ResidualReason reason) {
  // Depth first, without recursion: programs are deep.
  SmallVector<std::pair<Value, ResidualReason>> stack = {{value, reason}};
  while (!stack.empty()) {
    auto [current, why] = stack.back();
    if (materialized.contains(current)) {
      stack.pop_back();
      continue;
    }
    Operation *def = current.getDefiningOp();
    if (choice.isSaved(current)) {
      if (isa_and_nonnull<ElementwiseOp>(def) &&
          def->hasAttr(FadDialect::kAdjointOfAttr) &&
          isa<FloatType>(getElementTypeOrSelf(current)))
        why = {"derivative of a region"};
      materialized[current] = saveEncoded(current, why);
      continue;
    }
    ResidualReason operandReason = choice.getOperandReason(def);
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

void Materializer::sortBackward() {
  SmallVector<Operation *> backward = joint.getBackward();
  Operation *terminator = joint.getReturn();
  for (Operation *op : backward)
    op->moveBefore(terminator);
  boundary = backward.empty() ? terminator : backward.front();
  forwardEnd = boundary->getPrevNode();
}

void Materializer::resolveSizes() {
  // Cotangents and residuals are available at this point.
  llvm::DenseMap<Size, Size> available;
  SizeOrigins origins;
  auto offer = [&](Value primal, Value tensor) {
    auto type = dyn_cast<RankedTensorType>(primal.getType());
    if (primal.getType().isIndex())
      available.try_emplace(origins.find({primal, kIndex}), tensor, kIndex);
    for (int64_t dim = 0, rank = type ? type.getRank() : 0; dim < rank; ++dim)
      available.try_emplace(origins.find({primal, dim}), tensor, dim);
  };
  for (auto [index, cotangent] : llvm::enumerate(joint.getCotangents()))
    offer(joint.getResultOf(index), cotangent);
  for (ResidualOp residual : residuals)
    offer(residual.getValue(), residual);

  // Origins are forward values, which stay; only the pending sizes are erased.
  for (tensor::DimOp size : pendingSizes) {
    Size origin = origins.find({size.getSource(), *size.getConstantIndex()});
    auto [source, number] = origin;
    // A static size needs no tensor.
    if (!source) {
      rewriter.setInsertionPoint(size);
      rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(size, number);
      continue;
    }
    auto it = available.find(origin);
    if (it == available.end()) {
      Value index = source;
      if (number != kIndex) {
        forwardEnd = tensor::DimOp::create(appendToForward(), size.getLoc(),
                                           source, number);
        index = forwardEnd->getResult(0);
      }
      it = available.try_emplace(origin, save(index, {"size"}), kIndex).first;
    }
    auto [tensor, dim] = it->second;
    Value replacement = tensor;
    if (dim != kIndex) {
      rewriter.setInsertionPoint(size);
      replacement = tensor::DimOp::create(rewriter, size.getLoc(), tensor, dim);
    }
    rewriter.replaceOp(size, replacement);
  }
}

void Materializer::nameConsumers() {
  // Of each operation of backward that is no adjoint: the names of the adjoints
  // that read it, by way of others. A size of many tensors is part of as many
  // sums.
  DenseMap<Operation *, llvm::SetVector<Attribute>> readersOf;
  auto addReaders = [&](Value value, llvm::SetVector<Attribute> &names) {
    SmallVector<Operation *> others;
    for (Operation *user : value.getUsers()) {
      user = boundary->getBlock()->findAncestorOpInBlock(*user);
      if (Attribute name = user->getAttr(FadDialect::kAdjointOfAttr))
        names.insert(name);
      else
        others.push_back(user);
    }
    for (Operation *other : llvm::reverse(others))
      if (auto it = readersOf.find(other); it != readersOf.end())
        names.insert(it->second.begin(), it->second.end());
  };
  for (Operation *op = joint.getReturn()->getPrevNode(); op && op != forwardEnd;
       op = op->getPrevNode())
    if (!op->hasAttr(FadDialect::kAdjointOfAttr)) {
      llvm::SetVector<Attribute> names;
      for (Value result : llvm::reverse(op->getResults()))
        addReaders(result, names);
      if (!names.empty())
        readersOf.try_emplace(op, std::move(names));
    }
  for (ResidualOp residual : residuals) {
    llvm::SetVector<Attribute> names;
    addReaders(residual.getResult(), names);
    residual.setNeededByAttr(rewriter.getArrayAttr(names.getArrayRef()));
  }
}

void Materializer::run() {
  sortBackward();
  forEachPrimalRead(joint, [&](OpOperand &operand) {
    operand.set(materialize(operand.get(), {"read by an adjoint"}));
  });
  resolveSizes();
  nameConsumers();
  eraseDeadOps(joint.getFunction().front());
}

void fad::materialize(const JointFunction &joint,
                      const ResidualChoice &choice) {
  Materializer(joint, choice).run();
}
