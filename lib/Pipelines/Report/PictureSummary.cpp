//===- PictureSummary.cpp - Pictures of large functions -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Picture.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace mlir::fad;

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
                                     PictureSizes &sizes) {
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
    all.bytes += sizes.get(residual.getValue()).value_or(SizeExpr());
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

void fad::drawSummary(const JointFunction &joint,
                      const Explanation &explanation, PictureSizes &sizes,
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

  os << "digraph " << quoteDot(joint.getFunction().getSymName()) << " {\n"
     << getPictureStyle(title) << "  rankdir=LR;\n  ranksep=1.5;\n"
     << "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  llvm::SetVector<StringRef> sources, readers;
  for (const Group &group : groups) {
    sources.insert(group.source);
    readers.insert(group.readers.begin(), group.readers.end());
  }
  os << "  subgraph cluster_forward {\n    label=\"computed in forward by\";\n";
  for (StringRef source : sources)
    os << "    " << quoteDot(("from " + source).str())
       << " [label=" << quoteDot(source) << ", fillcolor=\"#e5e5e5\"];\n";
  os << "  }\n  subgraph cluster_residuals {\n    label=\"kept\";\n";
  for (auto [number, group] : llvm::enumerate(groups))
    os << "    g" << number << " [label="
       << quoteDot(llvm::formatv("{0}\n{1} x {2}", sizes.describe(group.bytes),
                                 group.count, group.type)
                       .str())
       << ", fillcolor=\"#fb6a4a\", shape=ellipse];\n";
  os << "  }\n  subgraph cluster_backward {\n    label=\"read in backward, for "
        "the adjoint of\";\n";
  for (StringRef reader : readers)
    os << "    " << quoteDot(("for " + reader).str())
       << " [label=" << quoteDot(reader) << ", fillcolor=\"#9ecae1\"];\n";
  os << "  }\n";
  if (std::string lines = listRecomputed(explanation); !lines.empty())
    os << "  subgraph cluster_again {\n    label=\"computed again in "
          "backward\";\n    again [label="
       << quoteDot(StringRef(lines).rtrim())
       << ", fillcolor=\"#fdae6b\"];\n  }\n";
  // An arrow is as wide as its share of the bytes.
  for (auto [number, group] : llvm::enumerate(groups)) {
    double share = double(group.bytes.getConstant().value_or(1)) / most;
    std::string style = llvm::formatv(
        " [color=\"#fb6a4a\", penwidth={0:f1}];\n", 1 + 5 * share);
    os << "  " << quoteDot("from " + group.source) << " -> g" << number
       << style;
    for (StringRef reader : group.readers)
      os << "  g" << number << " -> " << quoteDot(("for " + reader).str())
         << style;
  }
  os << "}\n";
}
