//===- Picture.cpp - Pictures of joint functions, for Graphviz ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Picture.h"
#include "Parts.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Draws one function. Operations that hold no data, such as constants and
/// sizes, are left out.
class Painter {
public:
  Painter(const JointFunction &joint, const Explanation &explanation,
          PictureSizes &sizes)
      : joint(joint), explanation(explanation), sizes(sizes) {}

  void print(StringRef title, raw_ostream &os);

private:
  enum Kind {
    /// Arguments and results, cotangents and gradients.
    kBoundary,
    /// Elementwise regions of the forward part, and its other operations.
    kRegion,
    kOther,
    /// Operations that backward repeats, and those that depend on a cotangent.
    kAgain,
    kAdjoint,
    /// Residuals that take memory, and those that are live anyway.
    kKept,
    kFree
  };
  /// The fill color of the nodes of each kind, and its meaning.
  struct Style {
    StringLiteral color, meaning;
  };
  static constexpr Style kStyles[] = {{"#ffffff", "argument or result"},
                                      {"#a1d99b", "elementwise region"},
                                      {"#e5e5e5", "other operation"},
                                      {"#fdae6b", "computed in backward"},
                                      {"#9ecae1", "adjoint"},
                                      {"#fb6a4a", "kept"},
                                      {"#fee0d2", "alive anyway"}};

  /// Adds a node with two lines of text, and details such as the location in
  /// the source, and edges from `sources` to it.
  unsigned addNode(Kind kind, const Twine &name, StringRef detail,
                   ArrayRef<unsigned> sources = {}, StringRef tooltip = "");
  void addOperation(Operation *op);
  void addResidual(ResidualOp op);
  void addBoundary(StringRef name, ArrayRef<Value> values, bool areResults);
  /// Adds the forward part and the residuals; returns the rest.
  SmallVector<Operation *> addForward();
  void build();
  /// The nodes that operand values of `op` come from.
  SmallVector<unsigned> getSources(Operation *op);

  const JointFunction &joint;
  const Explanation &explanation;
  PictureSizes &sizes;
  DenseMap<Operation *, Kind> kinds;
  DenseMap<Operation *, const KeptValue *> keptAt;
  /// The nodes of a value: one, or those of the operands of an operation
  /// without a node.
  DenseMap<Value, SmallVector<unsigned>> nodesOf;
  /// The kind of each node, in the order of execution.
  SmallVector<Kind> nodes;
  /// The text of the nodes of forward, residuals and backward, and of all
  /// edges.
  std::string parts[3], edges;
  bool isBackward = false;
};
} // namespace

unsigned Painter::addNode(Kind kind, const Twine &name, StringRef detail,
                          ArrayRef<unsigned> sources, StringRef tooltip) {
  unsigned node = nodes.size();
  nodes.push_back(kind);
  bool isResidual = kind == kKept || kind == kFree;
  llvm::raw_string_ostream os(parts[isResidual ? 1 : isBackward ? 2 : 0]);
  os << "    n" << node << " [label=" << quoteDot((name + "\n" + detail).str())
     << ", fillcolor=\"" << kStyles[kind].color << "\"";
  if (isResidual)
    os << ", shape=ellipse";
  if (!tooltip.empty())
    os << ", tooltip=" << quoteDot(tooltip);
  os << "];\n";
  llvm::raw_string_ostream edge(edges);
  for (unsigned source : sources) {
    edge << "  n" << source << " -> n" << node;
    if (kind == kKept || nodes[source] == kKept)
      edge << " [color=\"" << kStyles[kKept].color << "\", penwidth=2]";
    edge << ";\n";
  }
  return node;
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
    Kind kind =
        it != kinds.end() ? it->second
        : isa<ElementwiseOp>(op) || OpTrait::hasElementwiseMappableTraits(op)
            ? kRegion
            : kOther;
    sources = {addNode(kind, nameOperation(op, kind == kAdjoint),
                       nameType(op->getResultTypes().front()), sources,
                       describeLocation(op->getLoc()))};
  }
  for (Value result : op->getResults())
    nodesOf[result] = sources;
}

void Painter::addResidual(ResidualOp op) {
  const KeptValue *kept = keptAt.lookup(op);
  bool isFree = kept && (kept->kind == ResidualKind::argument ||
                         kept->kind == ResidualKind::result);
  nodesOf[op.getResult()] = {
      addNode(isFree ? kFree : kKept, nameType(op.getType()),
              isFree ? "alive anyway" : sizes.describe(op.getValue()),
              getSources(op), op.getReason())};
}

void Painter::addBoundary(StringRef name, ArrayRef<Value> values,
                          bool areResults) {
  for (auto [number, value] : llvm::enumerate(values)) {
    SmallVector<unsigned> sources;
    if (areResults)
      sources = nodesOf.lookup(value);
    unsigned node = addNode(kBoundary, name + " " + Twine(number),
                            nameType(value.getType()), sources);
    if (!areResults)
      nodesOf[value] = {node};
  }
}

SmallVector<Operation *> Painter::addForward() {
  SmallVector<Operation *> backward;
  DenseSet<Value> inBackward;
  for (Operation &op : joint.getFunction().front().without_terminator()) {
    bool dependsOnBackward = kinds.contains(&op);
    if (!isa<ResidualOp>(op))
      forEachOutsideOperand(&op, [&](OpOperand &operand) {
        dependsOnBackward |= inBackward.contains(operand.get());
      });
    if (dependsOnBackward || isa<ResidualOp>(op))
      inBackward.insert(op.result_begin(), op.result_end());
    if (dependsOnBackward) {
      // Views are computed again too.
      kinds.try_emplace(&op, kAgain);
      backward.push_back(&op);
    } else if (auto residual = dyn_cast<ResidualOp>(op)) {
      addResidual(residual);
    } else {
      addOperation(&op);
    }
  }
  return backward;
}

void Painter::build() {
  for (Operation *op : joint.getBackward())
    kinds[op] = kAdjoint;
  for (const RecomputedOp &recomputed : explanation.recomputed)
    kinds[recomputed.op] = kAgain;
  for (const KeptValue &kept : explanation.kept)
    for (ResidualOp op : kept.residuals)
      keptAt[op] = &kept;

  addBoundary("argument", joint.getArguments(), /*areResults=*/false);
  SmallVector<Operation *> backward = addForward();
  addBoundary("result", joint.getResults(), /*areResults=*/true);
  isBackward = true;
  addBoundary("cotangent", joint.getCotangents(), /*areResults=*/false);
  for (Operation *op : backward)
    addOperation(op);
  addBoundary("gradient", joint.getGradients(), /*areResults=*/true);
}

void Painter::print(StringRef title, raw_ostream &os) {
  build();
  os << "digraph " << quoteDot(joint.getFunction().getSymName()) << " {\n"
     << getPictureStyle(title)
     << "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  auto printCluster = [&](StringRef name, StringRef text) {
    os << "  subgraph cluster_" << name << " {\n    label=\"" << name << "\";\n"
       << text << "  }\n";
  };
  printCluster("forward", parts[0]);
  printCluster("residuals", parts[1]);
  printCluster("backward", parts[2]);
  os << edges;
  std::string legend;
  for (auto [kind, style] : llvm::enumerate(kStyles))
    if (llvm::is_contained(nodes, Kind(kind)))
      legend += llvm::formatv("    {0} [fillcolor=\"{1}\"];\n",
                              quoteDot(style.meaning), style.color);
  printCluster("legend", legend);
  os << "}\n";
}

void fad::drawJoint(const JointFunction &joint, const SelectionOptions &options,
                    const ArgumentSizes &argumentSizes,
                    std::optional<bool> summarize, raw_ostream &os) {
  /// A picture of more nodes is larger than a screen by far.
  constexpr unsigned kMostNodes = 300;
  Explanation explanation = explainResiduals(joint, options);
  PictureSizes sizes(argumentSizes);
  // `@ffn` of `@ffn_joint`.
  StringRef entry = joint.getFunction().getSymName();
  entry.consume_back("_joint");
  std::string title = llvm::formatv(
      "What @{0} keeps for backward, policy {1}: {2}", entry,
      stringifyPolicy(options.policy), sizes.describeSum(explanation));
  auto operations = joint.getFunction().front().without_terminator();
  bool isLarge = llvm::count_if(operations, [](Operation &op) {
                   return isDrawn(&op);
                 }) > kMostNodes;
  if (summarize.value_or(isLarge))
    drawSummary(joint, explanation, sizes, title, os);
  else
    Painter(joint, explanation, sizes).print(title, os);
}
