//===- PictureDot.cpp - Pictures in Graphviz's language -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Picture.h"

using namespace mlir;
using namespace mlir::fad;

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

static void printNode(const Picture &picture, unsigned number,
                      raw_ostream &os) {
  const Picture::Node &node = picture.nodes[number];
  std::string label = quote(llvm::join(node.label, "\n"));
  os << "    n" << number << " [label=" << label << ", fillcolor=\""
     << getColor(node.kind) << "\"";
  if (picture.getPart(number) == Picture::Part::residual)
    os << ", shape=ellipse";
  if (!node.tooltip.empty())
    os << ", tooltip=" << quote(node.tooltip);
  os << "];\n";
}

static void printLegend(const Picture &picture, raw_ostream &os) {
  os << "  subgraph cluster_legend {\n    label=\"legend\";\n";
  for (Picture::Kind kind : Picture::kKinds)
    if (llvm::any_of(picture.nodes, [&](const Picture::Node &node) {
          return node.kind == kind;
        }))
      os << "    " << quote(getMeaning(kind)) << " [fillcolor=\""
         << getColor(kind) << "\"];\n";
  os << "  }\n";
}

void fad::printDot(const Picture &picture, raw_ostream &os) {
  os << "digraph " << quote(picture.title) << " {\n"
     << "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  std::pair<Picture::Part, StringRef> parts[] = {
      {Picture::Part::forward, "forward"},
      {Picture::Part::residual, "residuals"},
      {Picture::Part::backward, "backward"}};
  for (auto [part, name] : parts) {
    os << "  subgraph cluster_" << name << " {\n    label=\"" << name
       << "\";\n";
    for (unsigned i = 0, end = picture.nodes.size(); i < end; ++i)
      if (picture.getPart(i) == part)
        printNode(picture, i, os);
    os << "  }\n";
  }
  for (auto [from, to] : picture.edges) {
    os << "  n" << from << " -> n" << to;
    if (picture.nodes[to].kind == Picture::Kind::kept ||
        picture.nodes[from].kind == Picture::Kind::kept)
      os << " [color=\"" << getColor(Picture::Kind::kept) << "\", penwidth=2]";
    os << ";\n";
  }
  printLegend(picture, os);
  os << "}\n";
}
