//===- Picture.cpp - Pictures of joint functions, for Graphviz ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Draws one function. Operations that hold no data, such as constants and
/// sizes, are left out.
class Painter {
public:
  Painter(const JointFunction &joint, const SelectionOptions &options,
          const ArgumentSizes &sizes)
      : joint(joint), explanation(explainResiduals(joint, options)),
        sizes(sizes) {}

  void print(raw_ostream &os);

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
  std::string getBytes(Value value);

  const JointFunction &joint;
  Explanation explanation;
  const ArgumentSizes &sizes;
  SizeSymbols symbols;
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

/// `text` as a string of DOT.
static std::string quote(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
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

unsigned Painter::addNode(Kind kind, const Twine &name, StringRef detail,
                          ArrayRef<unsigned> sources, StringRef tooltip) {
  unsigned node = nodes.size();
  nodes.push_back(kind);
  bool isResidual = kind == kKept || kind == kFree;
  llvm::raw_string_ostream os(parts[isResidual ? 1 : isBackward ? 2 : 0]);
  os << "    n" << node << " [label=" << quote((name + "\n" + detail).str())
     << ", fillcolor=\"" << kStyles[kind].color << "\"";
  if (isResidual)
    os << ", shape=ellipse";
  if (!tooltip.empty())
    os << ", tooltip=" << quote(tooltip);
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
    std::string name = op->getName().getStringRef().str();
    if (auto elementwise = dyn_cast<ElementwiseOp>(op))
      name += llvm::formatv(
          " ({0})",
          llvm::range_size(elementwise.getBodyBlock()->without_terminator()));
    sources = {addNode(kind, name, debugString(op->getResultTypes().front()),
                       sources, describeLocation(op->getLoc()))};
  }
  for (Value result : op->getResults())
    nodesOf[result] = sources;
}

void Painter::addResidual(ResidualOp op) {
  const KeptValue *kept = keptAt.lookup(op);
  bool isFree = kept && (kept->kind == ResidualKind::argument ||
                         kept->kind == ResidualKind::result);
  nodesOf[op.getResult()] = {
      addNode(isFree ? kFree : kKept, debugString(op.getType()),
              isFree ? "alive anyway" : getBytes(op.getValue()), getSources(op),
              op.getReason())};
}

void Painter::addBoundary(StringRef name, ArrayRef<Value> values,
                          bool areResults) {
  for (auto [number, value] : llvm::enumerate(values)) {
    SmallVector<unsigned> sources;
    if (areResults)
      sources = nodesOf.lookup(value);
    unsigned node = addNode(kBoundary, name + " " + Twine(number),
                            debugString(value.getType()), sources);
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

void Painter::print(raw_ostream &os) {
  build();
  os << "digraph " << quote(joint.getFunction().getSymName()) << " {\n"
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
                              quote(style.meaning), style.color);
  printCluster("legend", legend);
  os << "}\n";
}

void fad::drawJoint(const JointFunction &joint, const SelectionOptions &options,
                    const ArgumentSizes &sizes, raw_ostream &os) {
  Painter(joint, options, sizes).print(os);
}
