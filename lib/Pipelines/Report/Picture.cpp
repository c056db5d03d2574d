//===- Picture.cpp - Pictures of joint functions, for Graphviz ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Names and sizes
//===----------------------------------------------------------------------===//

/// Whether a residual takes no memory of its own, as arguments and results.
static bool isAliveAnyway(const KeptValue &kept) {
  return kept.kind == ResidualKind::argument ||
         kept.kind == ResidualKind::result;
}

/// Bytes in the largest fitting unit, or as a formula of dynamic sizes.
static std::string describe(const ValueSizes &sizes, const SizeExpr &bytes) {
  std::optional<uint64_t> known = bytes.getConstant();
  return known ? toReadable(*known) : sizes.toString(bytes) + " bytes";
}

/// Whether `op` holds data worth drawing: constants and sizes do not.
static bool isDrawn(Operation *op) {
  if (matchPattern(op, m_Constant()) ||
      isa<tensor::EmptyOp, tensor::DimOp, linalg::FillOp>(op))
    return false;
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
}

/// The functions that a body computes, without those of plain arithmetic if it
/// has others.
static std::string nameBody(Block &body) {
  llvm::SetVector<StringRef> functions, all;
  for (Operation &op : body.without_terminator()) {
    if (matchPattern(&op, m_Constant()))
      continue;
    StringRef name = op.getName().stripDialect();
    all.insert(name);
    if (isa<FadDialect, math::MathDialect>(op.getDialect()))
      functions.insert(name);
  }
  constexpr unsigned kMost = 3;
  ArrayRef<StringRef> names =
      (functions.empty() ? all : functions).getArrayRef();
  if (names.empty())
    return "copy";
  std::string text = llvm::join(names.take_front(kMost), ", ");
  if (names.size() > kMost)
    text += llvm::formatv(" and {0} more", names.size() - kMost);
  return text;
}

/// The name of an operation for people. An elementwise operation has that of
/// its function, such as `gelu`, `derivative of gelu` or `exp, tanh and 3
/// more`; `isAdjoint` is whether it depends on a cotangent.
static std::string nameOperation(Operation *op, bool isAdjoint) {
  auto primal = op->getAttrOfType<StringAttr>("fad.adjoint_of");
  auto elementwise = dyn_cast<ElementwiseOp>(op);
  if (!elementwise)
    return op->getName().getStringRef().str();
  StringRef name = primal ? primal.getValue() : "";
  name.consume_front("fad.");
  // A region of several functions is known by no name of theirs.
  if (name.empty() || name == "elementwise")
    return nameBody(*elementwise.getBodyBlock());
  return ((isAdjoint ? "adjoint of " : "derivative of ") + name).str();
}

/// A type without what all types of the picture share: `8x16xf32` for a tensor.
static std::string nameType(Type type) {
  std::string text = debugString(type);
  StringRef inner = text;
  if (inner.consume_front("tensor<") && inner.consume_back(">"))
    return inner.str();
  return text;
}

//===----------------------------------------------------------------------===//
// DOT
//===----------------------------------------------------------------------===//

namespace {
enum NodeKind {
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
} // namespace

static constexpr Style kStyles[] = {{"#ffffff", "argument or result"},
                                    {"#a1d99b", "elementwise region"},
                                    {"#e5e5e5", "other operation"},
                                    {"#fdae6b", "computed in backward"},
                                    {"#9ecae1", "adjoint"},
                                    {"#fb6a4a", "kept"},
                                    {"#fee0d2", "alive anyway"}};

static std::string quote(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

/// A line for the node `id`.
static std::string makeNode(StringRef id, StringRef label, NodeKind kind,
                            StringRef tooltip = "") {
  std::string text = llvm::formatv("    {0} [label={1}, fillcolor=\"{2}\"", id,
                                   quote(label), kStyles[kind].color);
  if (kind == kKept || kind == kFree)
    text += ", shape=ellipse";
  if (!tooltip.empty())
    text += ", tooltip=" + quote(tooltip);
  return text + "];\n";
}

static void printCluster(raw_ostream &os, StringRef name, StringRef label,
                         StringRef nodes) {
  os << "  subgraph cluster_" << name << " {\n    label=\"" << label << "\";\n"
     << nodes << "  }\n";
}

/// Begins a picture of `joint`, in which `layout` sets further attributes.
static void printHead(raw_ostream &os, const JointFunction &joint,
                      StringRef title, StringRef layout = "") {
  os << "digraph " << quote(joint.getFunction().getSymName())
     << " {\n  label=" << quote(title)
     << ";\n  labelloc=t;\n  fontsize=20;\n  fontname=\"sans-serif\";\n"
        "  edge [arrowhead=normal, fontname=\"sans-serif\"];\n"
     << layout
     << "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
}

//===----------------------------------------------------------------------===//
// Operation by operation
//===----------------------------------------------------------------------===//

namespace {
/// Draws one function. Operations that hold no data, such as constants and
/// sizes, are left out.
class Painter {
public:
  Painter(const JointFunction &joint, const Explanation &explanation,
          ValueSizes &sizes)
      : joint(joint), explanation(explanation), sizes(sizes) {}

  void print(StringRef title, raw_ostream &os);

private:
  /// Adds a node with two lines of text, and details such as the location in
  /// the source, and edges from `sources` to it.
  unsigned addNode(NodeKind kind, const Twine &name, StringRef detail,
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
  ValueSizes &sizes;
  DenseMap<Operation *, NodeKind> kinds;
  DenseMap<Operation *, const KeptValue *> keptAt;
  /// The nodes of a value: one, or those of the operands of an operation
  /// without a node.
  DenseMap<Value, SmallVector<unsigned>> nodesOf;
  /// The kind of each node, in the order of execution.
  SmallVector<NodeKind> nodes;
  /// The text of the nodes of forward, residuals and backward, and of all
  /// edges.
  std::string parts[3], edges;
  bool isBackward = false;
};
} // namespace

unsigned Painter::addNode(NodeKind kind, const Twine &name, StringRef detail,
                          ArrayRef<unsigned> sources, StringRef tooltip) {
  unsigned node = nodes.size();
  nodes.push_back(kind);
  bool isResidual = kind == kKept || kind == kFree;
  parts[isResidual   ? 1
        : isBackward ? 2
                     : 0] +=
      makeNode(("n" + Twine(node)).str(), (name + "\n" + detail).str(), kind,
               tooltip);
  for (unsigned source : sources) {
    bool isOfResidual = kind == kKept || nodes[source] == kKept;
    edges +=
        llvm::formatv("  n{0} -> n{1}{2};\n", source, node,
                      isOfResidual ? " [color=\"#fb6a4a\", penwidth=2]" : "");
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
    NodeKind kind =
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
  bool isFree = kept && isAliveAnyway(*kept);
  std::optional<SizeExpr> bytes = sizes.getBytes(op.getValue());
  nodesOf[op.getResult()] = {addNode(isFree ? kFree : kKept,
                                     nameType(op.getType()),
                                     isFree  ? "alive anyway"
                                     : bytes ? describe(sizes, *bytes)
                                             : "",
                                     getSources(op), op.getReason())};
}

void Painter::addBoundary(StringRef name, ArrayRef<Value> values,
                          bool areResults) {
  for (auto [number, value] : llvm::enumerate(values)) {
    unsigned node = addNode(
        kBoundary, name + " " + Twine(number), nameType(value.getType()),
        areResults ? nodesOf.lookup(value) : SmallVector<unsigned>());
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
  printHead(os, joint, title);
  printCluster(os, "forward", "forward", parts[0]);
  printCluster(os, "residuals", "residuals", parts[1]);
  printCluster(os, "backward", "backward", parts[2]);
  os << edges;
  std::string legend;
  for (auto [kind, style] : llvm::enumerate(kStyles))
    if (llvm::is_contained(nodes, NodeKind(kind)))
      legend += llvm::formatv("    {0} [fillcolor=\"{1}\"];\n",
                              quote(style.meaning), style.color);
  printCluster(os, "legend", "legend", legend);
  os << "}\n";
}

//===----------------------------------------------------------------------===//
// A node for all equal residuals
//===----------------------------------------------------------------------===//

namespace {
/// Residuals that are equal but for their place in the function.
struct Group {
  std::string source, type;
  llvm::SetVector<StringRef> readers;
  SizeExpr bytes;
  unsigned count = 0;

  /// The bytes, to compare groups; those of unknown sizes come first.
  uint64_t getWeight() const {
    return bytes.getConstant().value_or(std::numeric_limits<uint64_t>::max());
  }
};
} // namespace

/// The groups of values that take memory, those of the most bytes first.
static std::vector<Group> findGroups(const Explanation &explanation,
                                     ValueSizes &sizes) {
  std::map<std::string, unsigned> numbers;
  std::vector<Group> groups;
  for (const KeptValue &kept : explanation.kept) {
    if (isAliveAnyway(kept))
      continue;
    ResidualOp residual = kept.residuals.front();
    Group group;
    Operation *def = kept.value.getDefiningOp();
    group.source = def ? nameOperation(def, /*isAdjoint=*/false) : "argument";
    group.type = nameType(residual.getType());
    for (ResidualOp op : kept.residuals)
      for (StringRef name : op.getNeededBy().getAsValueRange<StringAttr>())
        group.readers.insert(name);
    std::string key = group.source + "\n" + group.type + "\n" +
                      llvm::join(group.readers, "\n");
    auto [it, isNew] = numbers.try_emplace(key, groups.size());
    if (isNew)
      groups.push_back(std::move(group));
    Group &all = groups[it->second];
    ++all.count;
    all.bytes += sizes.getBytes(residual.getValue()).value_or(SizeExpr());
  }
  llvm::stable_sort(groups, [](const Group &a, const Group &b) {
    return a.getWeight() > b.getWeight();
  });
  return groups;
}

/// The operations that backward executes again, by name, a line each.
static std::string listRecomputed(const Explanation &explanation) {
  llvm::MapVector<std::string, unsigned, std::map<std::string, unsigned>>
      counts;
  for (const RecomputedOp &recomputed : explanation.recomputed)
    ++counts[nameOperation(recomputed.op, /*isAdjoint=*/false)];
  auto lines = counts.takeVector();
  llvm::stable_sort(lines, llvm::less_second());
  std::string text;
  constexpr unsigned kMostLines = 12;
  for (auto &[name, count] :
       llvm::reverse(ArrayRef(lines).take_back(kMostLines)))
    text += llvm::formatv("{0} x {1}\n", count, name);
  if (lines.size() > kMostLines)
    text += llvm::formatv("and {0} other kinds\n", lines.size() - kMostLines);
  return text;
}

/// The bytes of the groups that are not drawn, as one group.
static Group foldRest(ArrayRef<Group> rest) {
  Group folded;
  folded.source = "others";
  folded.type = llvm::formatv("{0} kinds", rest.size());
  for (const Group &group : rest) {
    folded.bytes += group.bytes;
    folded.count += group.count;
    folded.readers.insert(group.readers.begin(), group.readers.end());
  }
  return folded;
}

/// Draws one node for all equal residuals of `joint`, between nodes for what
/// computes them and nodes for what reads them.
static void drawSummary(const JointFunction &joint,
                        const Explanation &explanation, ValueSizes &sizes,
                        StringRef title, raw_ostream &os) {
  /// More do not fit on a page.
  constexpr unsigned kMostGroups = 16;
  std::vector<Group> groups = findGroups(explanation, sizes);
  if (groups.size() > kMostGroups) {
    Group rest = foldRest(ArrayRef(groups).drop_front(kMostGroups));
    groups.resize(kMostGroups);
    groups.push_back(std::move(rest));
  }
  double most = 1;
  for (const Group &group : groups)
    most = std::max(most, double(group.bytes.getConstant().value_or(1)));

  llvm::SetVector<StringRef> sources, readers;
  std::string forward, kept, backward, edges;
  for (auto [number, group] : llvm::enumerate(groups)) {
    if (sources.insert(group.source))
      forward += makeNode(quote("from " + group.source), group.source, kOther);
    std::string label =
        llvm::formatv("{0}\n{1} x {2}", describe(sizes, group.bytes),
                      group.count, group.type);
    kept += makeNode(("g" + Twine(number)).str(), label, kKept);
    // An arrow is as wide as its share of the bytes.
    double share = double(group.bytes.getConstant().value_or(1)) / most;
    std::string style = llvm::formatv(" [color=\"{0}\", penwidth={1:f1}];\n",
                                      kStyles[kKept].color, 1 + 5 * share);
    edges += llvm::formatv("  {0} -> g{1}{2}", quote("from " + group.source),
                           number, style);
    for (StringRef reader : group.readers) {
      std::string id = quote(("for " + reader).str());
      if (readers.insert(reader))
        backward += makeNode(id, reader, kAdjoint);
      edges += llvm::formatv("  g{0} -> {1}{2}", number, id, style);
    }
  }
  printHead(os, joint, title, "  rankdir=LR;\n  ranksep=1.5;\n");
  printCluster(os, "forward", "computed in forward by", forward);
  printCluster(os, "residuals", "kept", kept);
  printCluster(os, "backward", "read in backward, for the adjoint of",
               backward);
  if (std::string lines = listRecomputed(explanation); !lines.empty())
    printCluster(os, "again", "computed again in backward",
                 makeNode("again", StringRef(lines).rtrim(), kAgain));
  os << edges << "}\n";
}

void fad::drawJoint(const JointFunction &joint, const SelectionOptions &options,
                    const ArgumentSizes &argumentSizes,
                    std::optional<bool> summarize, raw_ostream &os) {
  /// A picture of more nodes is larger than a screen by far.
  constexpr unsigned kMostNodes = 300;
  Explanation explanation = explainResiduals(joint, options);
  ValueSizes sizes(argumentSizes);
  SizeExpr sum;
  for (const KeptValue &kept : explanation.kept)
    if (!isAliveAnyway(kept))
      sum += sizes.getBytes(kept.residuals.front()->getOperand(0))
                 .value_or(SizeExpr());
  // `@ffn` of `@ffn_joint`.
  StringRef entry = joint.getFunction().getSymName();
  entry.consume_back("_joint");
  std::string title =
      llvm::formatv("What @{0} keeps for backward, policy {1}: {2}", entry,
                    stringifyPolicy(options.policy), describe(sizes, sum));
  auto operations = joint.getFunction().front().without_terminator();
  bool isLarge = llvm::count_if(operations, [](Operation &op) {
                   return isDrawn(&op);
                 }) > kMostNodes;
  if (summarize.value_or(isLarge))
    drawSummary(joint, explanation, sizes, title, os);
  else
    Painter(joint, explanation, sizes).print(title, os);
}
