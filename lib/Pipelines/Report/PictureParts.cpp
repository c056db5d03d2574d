//===- PictureParts.cpp - Names and sizes in pictures ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "Picture.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fad;

std::optional<SizeExpr> PictureSizes::get(Value value) {
  std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
  if (!bytes)
    return std::nullopt;
  return symbols.substitute(*bytes, [&](const SizeSymbols::Symbol &symbol) {
    return sizes.lookup(symbol);
  });
}

std::string PictureSizes::describe(const SizeExpr &bytes) {
  if (std::optional<uint64_t> known = bytes.getConstant())
    return toReadable(*known);
  std::string text;
  llvm::raw_string_ostream os(text);
  bytes.print(os, [&](unsigned symbol) { return symbols.getName(symbol); });
  return text + " bytes";
}

std::string PictureSizes::describe(Value value) {
  std::optional<SizeExpr> bytes = get(value);
  return bytes ? describe(*bytes) : "";
}

std::string PictureSizes::describeSum(const Explanation &explanation) {
  SizeExpr sum;
  for (const KeptValue &kept : explanation.kept)
    if (!isAliveAnyway(kept))
      sum += get(kept.residuals.front()->getOperand(0)).value_or(SizeExpr());
  return describe(sum);
}

std::string fad::quoteDot(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string fad::getPictureStyle(StringRef title) {
  return "  label=" + quoteDot(title) +
         ";\n  labelloc=t;\n  fontsize=20;\n  fontname=\"sans-serif\";\n"
         "  edge [arrowhead=normal, fontname=\"sans-serif\"];\n";
}

bool fad::isDrawn(Operation *op) {
  if (matchPattern(op, m_Constant()) ||
      isa<tensor::EmptyOp, tensor::DimOp, linalg::FillOp>(op))
    return false;
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
}

bool fad::isAliveAnyway(const KeptValue &kept) {
  return kept.kind == ResidualKind::argument ||
         kept.kind == ResidualKind::result;
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

std::string fad::nameOperation(Operation *op, bool isAdjoint) {
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

std::string fad::nameType(Type type) {
  std::string text = debugString(type);
  StringRef inner = text;
  if (inner.consume_front("tensor<") && inner.consume_back(">"))
    return inner.str();
  return text;
}
