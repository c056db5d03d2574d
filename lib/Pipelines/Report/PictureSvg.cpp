//===- PictureSvg.cpp - Pictures in SVG -----------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Picture.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Three columns: forward from top to bottom, what is kept, and backward from
/// bottom to top, so that what belongs together is side by side.
class Drawing {
public:
  Drawing(const Picture &picture, raw_ostream &os) : picture(picture), os(os) {
    place();
  }
  void print();

private:
  static constexpr int boxWidth = 230, boxHeight = 32, rowHeight = 46;
  static constexpr int columnWidth = 330, margin = 70, top = 90;
  static constexpr size_t maxLetters = 34;

  void place();
  int getLeft(unsigned node) const {
    return margin + int(picture.getPart(node)) * columnWidth;
  }
  int getTop(unsigned node) const { return top + rows[node] * rowHeight; }
  void printNode(unsigned node);
  void printEdge(unsigned from, unsigned to);
  void printLegend();

  const Picture &picture;
  raw_ostream &os;
  /// The row of each node.
  SmallVector<int> rows;
  int numRows = 0;
};
} // namespace

/// `text` without what XML does not allow.
static std::string escape(StringRef text) {
  std::string valid = llvm::json::fixUTF8(text), result;
  for (char &c : valid)
    if (static_cast<unsigned char>(c) < 0x20)
      c = ' ';
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(valid, os);
  return result;
}

/// `text`, cut where it is longer than `length` letters.
static std::string shorten(StringRef text, size_t length) {
  std::string valid = llvm::json::fixUTF8(text);
  if (valid.size() <= length)
    return valid;
  // Not inside of a letter.
  while (length > 0 && (valid[length] & 0xC0) == 0x80)
    --length;
  return valid.substr(0, length) + "…";
}

void Drawing::place() {
  rows.resize(picture.nodes.size());
  int numForward = 0, numBackward = 0, nextResidual = 0;
  SmallVector<int> sourceRows(picture.nodes.size(), 0);
  // Sources come before what they lead to.
  for (auto [from, to] : picture.edges)
    sourceRows[to] = std::max<int>(sourceRows[to], from);
  for (unsigned i = 0, end = picture.nodes.size(); i < end; ++i) {
    switch (picture.getPart(i)) {
    case Picture::Part::forward:
      rows[i] = numForward++;
      break;
    case Picture::Part::backward:
      rows[i] = numBackward++;
      break;
    case Picture::Part::residual:
      break;
    }
  }
  // In the order of what they are computed from.
  SmallVector<unsigned> residuals;
  for (unsigned i = 0, end = picture.nodes.size(); i < end; ++i)
    if (picture.getPart(i) == Picture::Part::residual)
      residuals.push_back(i);
  llvm::stable_sort(residuals, [&](unsigned a, unsigned b) {
    return rows[sourceRows[a]] < rows[sourceRows[b]];
  });
  for (unsigned node : residuals) {
    nextResidual = std::max(nextResidual, rows[sourceRows[node]]);
    rows[node] = nextResidual++;
  }
  numRows = std::max({numForward, numBackward, nextResidual});
  for (unsigned i = 0, end = picture.nodes.size(); i < end; ++i)
    if (picture.getPart(i) == Picture::Part::backward)
      rows[i] = numRows - 1 - rows[i];
}

void Drawing::printNode(unsigned number) {
  const Picture::Node &node = picture.nodes[number];
  int left = getLeft(number), y = getTop(number);
  bool isResidual = picture.getPart(number) == Picture::Part::residual;
  os << llvm::formatv(
      "<g><title>{0}</title>",
      escape(llvm::join(node.label, "\n") + "\n" + node.tooltip));
  os << llvm::formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
                      "rx=\"{4}\" fill=\"{5}\" stroke=\"#555555\"/>",
                      left, y, boxWidth, boxHeight, isResidual ? 16 : 3,
                      getColor(node.kind));
  for (auto [line, text] : llvm::enumerate(node.label))
    os << llvm::formatv("<text x=\"{0}\" y=\"{1}\">{2}</text>",
                        left + boxWidth / 2, y + 13 + 13 * int(line),
                        escape(shorten(text, maxLetters)));
  os << "</g>\n";
}

void Drawing::printEdge(unsigned from, unsigned to) {
  int x1 = getLeft(from), y1 = getTop(from) + boxHeight / 2;
  int x2 = getLeft(to), y2 = getTop(to) + boxHeight / 2;
  std::string path;
  if (x1 != x2) {
    // From one column to another: out on the right, in on the left.
    int middle = columnWidth - boxWidth;
    path = llvm::formatv("M{0},{1} C{2},{1} {3},{4} {5},{4}", x1 + boxWidth, y1,
                         x1 + boxWidth + middle / 2, x2 - middle / 2, y2, x2);
  } else if (std::abs(rows[from] - rows[to]) == 1) {
    bool down = rows[to] > rows[from];
    path = llvm::formatv("M{0},{1} L{0},{2}", x1 + boxWidth / 2,
                         y1 + (down ? boxHeight : -boxHeight) / 2,
                         y2 + (down ? -boxHeight : boxHeight) / 2);
  } else {
    // Around the boxes between them, on the outer side.
    bool isForward = picture.getPart(from) == Picture::Part::forward;
    int side = isForward ? x1 : x1 + boxWidth;
    int reach = std::min(60, 10 + 3 * std::abs(rows[from] - rows[to]));
    int outside = isForward ? side - reach : side + reach;
    path = llvm::formatv("M{0},{1} C{2},{1} {2},{3} {0},{3}", side, y1, outside,
                         y2);
  }
  bool isKept = picture.nodes[from].kind == Picture::Kind::kept ||
                picture.nodes[to].kind == Picture::Kind::kept;
  os << llvm::formatv("<path d=\"{0}\"{1}/>\n", path,
                      isKept ? " class=\"kept\"" : "");
}

void Drawing::printLegend() {
  int left = margin;
  for (Picture::Kind kind :
       {Picture::Kind::region, Picture::Kind::other, Picture::Kind::kept,
        Picture::Kind::free, Picture::Kind::again, Picture::Kind::adjoint}) {
    os << llvm::formatv("<rect x=\"{0}\" y=\"34\" width=\"14\" height=\"14\" "
                        "fill=\"{1}\" stroke=\"#555555\"/><text x=\"{2}\" "
                        "y=\"45\" class=\"left\">{3}</text>\n",
                        left, getColor(kind), left + 20, getMeaning(kind));
    left += 160;
  }
}

void Drawing::print() {
  int width = 2 * margin + 2 * columnWidth + boxWidth;
  int height = top + numRows * rowHeight + 20;
  os << llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" "
                      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
                      width, height)
     << "<style>text{font:11px monospace;text-anchor:middle}"
        ".left{text-anchor:start}.head{font-size:14px}"
        "path{fill:none;stroke:#999999}"
        "path.kept{stroke:#cb181d;stroke-width:2}</style>\n"
     << llvm::formatv("<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
                      width, height)
     << llvm::formatv(
            "<text x=\"{0}\" y=\"22\" class=\"left head\">{1}</text>\n", margin,
            escape(picture.title));
  printLegend();
  for (auto [column, name] :
       llvm::enumerate(std::array<StringRef, 3>{"forward", "kept", "backward"}))
    os << llvm::formatv("<text x=\"{0}\" y=\"78\" class=\"head\">{1}</text>\n",
                        margin + int(column) * columnWidth + boxWidth / 2,
                        name);
  for (auto [from, to] : picture.edges)
    printEdge(from, to);
  for (unsigned i = 0, end = picture.nodes.size(); i < end; ++i)
    printNode(i);
  os << "</svg>\n";
}

void fad::printSvg(const Picture &picture, raw_ostream &os) {
  Drawing(picture, os).print();
}
