//===- Picture.cpp - Pictures of joint functions --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Picture.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fad;

StringRef fad::getColor(Picture::Kind kind) {
  switch (kind) {
  case Picture::Kind::boundary:
    return "#ffffff";
  case Picture::Kind::region:
    return "#a1d99b";
  case Picture::Kind::other:
    return "#e5e5e5";
  case Picture::Kind::again:
    return "#fdae6b";
  case Picture::Kind::adjoint:
    return "#9ecae1";
  case Picture::Kind::kept:
    return "#fb6a4a";
  case Picture::Kind::free:
    return "#fee0d2";
  }
  return "#ffffff";
}

StringRef fad::getMeaning(Picture::Kind kind) {
  switch (kind) {
  case Picture::Kind::boundary:
    return "argument or result";
  case Picture::Kind::region:
    return "elementwise region";
  case Picture::Kind::other:
    return "other operation";
  case Picture::Kind::again:
    return "computed in backward";
  case Picture::Kind::adjoint:
    return "adjoint";
  case Picture::Kind::kept:
    return "kept";
  case Picture::Kind::free:
    return "alive anyway";
  }
  return "";
}

namespace {
/// Makes the picture of one function.
class Painter {
public:
  Painter(const JointFunction &joint, const ExplanationOptions &options,
          const ArgumentSizes &sizes)
      : joint(joint), explanation(explainResiduals(joint, options)),
        sizes(sizes) {}

  Picture build();

private:
  unsigned addNode(Picture::Kind kind, ArrayRef<std::string> label,
                   std::string tooltip = "");
  void addOperation(Operation *op);
  void addResidual(ResidualOp op);
  void addInputs(StringRef name, ArrayRef<Value> values);
  void addOutputs(StringRef name, ArrayRef<Value> values);
  /// Adds the forward part and the residuals; returns the rest.
  SmallVector<Operation *> addForward();
  /// The nodes that operand values of `op` come from.
  SmallVector<unsigned> getSources(Operation *op);
  std::string getBytes(Value value);

  const JointFunction &joint;
  Explanation explanation;
  const ArgumentSizes &sizes;
  SizeSymbols symbols;
  Picture picture;
  DenseMap<Operation *, Picture::Kind> kinds;
  DenseMap<Operation *, const KeptValue *> keptAt;
  /// The nodes of a value: one, or those of the operands of an operation
  /// without a node.
  DenseMap<Value, SmallVector<unsigned>> nodesOf;
};
} // namespace

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  type.print(os);
  return text;
}

/// Whether `op` holds data worth drawing.
static bool isDrawn(Operation *op) {
  if (matchPattern(op, m_Constant()) ||
      isa<tensor::EmptyOp, tensor::DimOp, linalg::FillOp>(op))
    return false;
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
}

std::string Painter::getBytes(Value value) {
  std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
  if (!bytes)
    return "";
  SizeExpr known =
      symbols.substitute(*bytes, [&](const SizeSymbols::Symbol &symbol) {
        return sizes.lookup(symbol);
      });
  std::string text;
  llvm::raw_string_ostream os(text);
  known.print(os, [&](unsigned symbol) { return symbols.getName(symbol); });
  return text + " bytes";
}

unsigned Painter::addNode(Picture::Kind kind, ArrayRef<std::string> label,
                          std::string tooltip) {
  picture.nodes.push_back({kind, {label.begin(), label.end()}, tooltip});
  return picture.nodes.size() - 1;
}

SmallVector<unsigned> Painter::getSources(Operation *op) {
  llvm::SetVector<unsigned> sources;
  forEachOutsideOperand(op, [&](OpOperand &operand) {
    auto it = nodesOf.find(operand.get());
    if (it != nodesOf.end())
      sources.insert(it->second.begin(), it->second.end());
  });
  return sources.takeVector();
}

void Painter::addOperation(Operation *op) {
  SmallVector<unsigned> sources = getSources(op);
  if (isDrawn(op)) {
    auto it = kinds.find(op);
    Picture::Kind kind =
        it != kinds.end() ? it->second
        : isa<ElementwiseOp>(op) || OpTrait::hasElementwiseMappableTraits(op)
            ? Picture::Kind::region
            : Picture::Kind::other;
    std::string name = op->getName().getStringRef().str();
    auto elementwise = dyn_cast<ElementwiseOp>(op);
    if (elementwise)
      name += llvm::formatv(
          " ({0})",
          std::distance(
              elementwise.getBodyBlock()->without_terminator().begin(),
              elementwise.getBodyBlock()->without_terminator().end()));
    unsigned node = addNode(kind, {name, print(op->getResultTypes().front())},
                            describeLocation(op->getLoc()));
    for (unsigned source : sources)
      picture.edges.emplace_back(source, node);
    sources = {node};
  }
  for (Value result : op->getResults())
    nodesOf[result] = sources;
}

void Painter::addResidual(ResidualOp op) {
  const KeptValue *kept = keptAt.lookup(op);
  bool isFree = kept && (kept->kind == ResidualKind::argument ||
                         kept->kind == ResidualKind::result);
  std::string bytes = isFree ? "alive anyway" : getBytes(op.getValue());
  unsigned node = addNode(isFree ? Picture::Kind::free : Picture::Kind::kept,
                          {print(op.getType()), bytes}, op.getReason().str());
  for (unsigned source : getSources(op))
    picture.edges.emplace_back(source, node);
  nodesOf[op.getResult()] = {node};
}

void Painter::addInputs(StringRef name, ArrayRef<Value> values) {
  for (auto [number, value] : llvm::enumerate(values))
    nodesOf[value] = {addNode(
        Picture::Kind::boundary,
        {llvm::formatv("{0} {1}", name, number), print(value.getType())})};
}

void Painter::addOutputs(StringRef name, ArrayRef<Value> values) {
  for (auto [number, value] : llvm::enumerate(values)) {
    SmallVector<unsigned> sources = nodesOf.lookup(value);
    unsigned node = addNode(
        Picture::Kind::boundary,
        {llvm::formatv("{0} {1}", name, number), print(value.getType())});
    for (unsigned source : sources)
      picture.edges.emplace_back(source, node);
  }
}

SmallVector<Operation *> Painter::addForward() {
  SmallVector<Operation *> backward;
  DenseSet<Value> inBackward;
  for (Operation &op : joint.getFunction().front().without_terminator()) {
    bool isBackward = kinds.contains(&op);
    if (!isa<ResidualOp>(op))
      forEachOutsideOperand(&op, [&](OpOperand &operand) {
        isBackward |= inBackward.contains(operand.get());
      });
    if (isBackward || isa<ResidualOp>(op))
      inBackward.insert(op.result_begin(), op.result_end());
    if (isBackward) {
      // Views are computed again too.
      kinds.try_emplace(&op, Picture::Kind::again);
      backward.push_back(&op);
    } else if (auto residual = dyn_cast<ResidualOp>(op)) {
      addResidual(residual);
    } else {
      addOperation(&op);
    }
  }
  return backward;
}

Picture Painter::build() {
  picture.title = joint.getFunction().getSymName();
  for (Operation *op : joint.getBackward())
    kinds[op] = Picture::Kind::adjoint;
  for (const RecomputedOp &recomputed : explanation.recomputed)
    kinds[recomputed.op] = Picture::Kind::again;
  for (const KeptValue &kept : explanation.kept)
    for (ResidualOp op : kept.residuals)
      keptAt[op] = &kept;

  addInputs("argument", joint.getArguments());
  SmallVector<Operation *> backward = addForward();
  addOutputs("result", joint.getResults());
  picture.firstBackward = picture.nodes.size();
  addInputs("cotangent", joint.getCotangents());
  for (Operation *op : backward)
    addOperation(op);
  addOutputs("gradient", joint.getGradients());
  return std::move(picture);
}

Picture fad::makePicture(const JointFunction &joint,
                         const ExplanationOptions &options,
                         const ArgumentSizes &sizes) {
  return Painter(joint, options, sizes).build();
}
