//===- MemoryReport.cpp - What backward needs -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/MemoryReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::fad;

std::optional<uint64_t>
ArgumentSizes::lookup(const SizeSymbols::Symbol &symbol) const {
  if (!symbol.argumentDim)
    return std::nullopt;
  auto found = ofDims.find(*symbol.argumentDim);
  return found == ofDims.end() ? others : found->second;
}

/// Whether some primal result of `joint` is `value`: results with
/// `fad.gradient` are not primal results.
static bool isPrimalResult(func::FuncOp joint, Value value) {
  Operation *terminator = joint.front().getTerminator();
  return llvm::any_of(terminator->getOpOperands(), [&](OpOperand &operand) {
    return operand.get() == value &&
           !joint.getResultAttr(operand.getOperandNumber(),
                                FadDialect::kGradientAttr);
  });
}

LogicalResult MemoryReport::add(Policy policy, func::FuncOp joint) {
  // A value that several adjoints read is kept once.
  llvm::MapVector<Value, SmallVector<ResidualOp>> kept;
  joint.walk([&](ResidualOp op) { kept[op.getValue()].push_back(op); });

  PolicyResiduals &result = policies.emplace_back();
  result.policy = policy;
  for (auto &[value, ops] : kept) {
    ResidualInfo &info = result.residuals.emplace_back();
    info.type = value.getType();
    info.reason = ops.front().getReason().str();
    for (ResidualOp op : ops)
      for (auto name : op.getNeededBy().getAsValueRange<StringAttr>())
        if (!llvm::is_contained(info.neededBy, name))
          info.neededBy.push_back(name.str());

    if (isa<BlockArgument>(value)) {
      info.reason = "argument: alive anyway";
      continue;
    }
    if (isPrimalResult(joint, value)) {
      info.reason = "result: alive anyway";
      continue;
    }
    std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
    if (!bytes)
      return ops.front().emitError()
             << "cannot tell how many bytes a value of type " << value.getType()
             << " takes; elements must be integers, floating-point numbers, "
                "index, or complex numbers or fixed vectors of them";
    *bytes = bytes->substitute([&](unsigned symbol) {
      return sizes.lookup(symbols.getSymbols()[symbol]);
    });
    info.bytes = *bytes;
    result.total += *bytes;
    if (result.total.isSaturated())
      return ops.front().emitError(
          "what is kept takes 2^64 bytes or more; give smaller sizes");
  }
  return success();
}

std::string MemoryReport::toString(const SizeExpr &expr) const {
  std::string result;
  llvm::raw_string_ostream os(result);
  expr.print(os, [&](unsigned symbol) { return symbols.getName(symbol); });
  return result;
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

static std::string toString(Type type) {
  std::string result;
  llvm::raw_string_ostream os(result);
  type.print(os);
  return result;
}

void MemoryReport::printLegend(raw_ostream &os) const {
  for (const SizeSymbols::Symbol &symbol : symbols.getSymbols()) {
    os << "  " << symbol.name;
    if (std::optional<uint64_t> size = sizes.lookup(symbol))
      os << " = " << *size;
    os << ": " << symbol.description << "\n";
  }
}

void MemoryReport::printTable(raw_ostream &os) const {
  constexpr size_t numColumns = 5;
  using Row = std::array<std::string, numColumns>;
  SmallVector<Row> rows;
  rows.push_back({"policy", "bytes", "type", "for", "reason"});
  for (const PolicyResiduals &kept : policies) {
    std::string policy = stringifyPolicy(kept.policy).str();
    for (const ResidualInfo &info : kept.residuals)
      rows.push_back({policy, toString(info.bytes), ::toString(info.type),
                      llvm::join(info.neededBy, ", "), info.reason});
    rows.push_back({policy, toString(kept.total), "total", "", ""});
  }

  std::array<size_t, numColumns> widths = {};
  for (const Row &row : rows)
    for (size_t i = 0; i < numColumns; ++i)
      widths[i] = std::max(widths[i], row[i].size());

  os << "What crosses from forward to backward of @" << entry << "\n";
  printLegend(os);
  StringRef policy;
  for (const Row &row : rows) {
    if (row[0] != policy)
      os << "\n";
    policy = row[0];
    std::string line = llvm::formatv(
        "{0}  {1}  {2}  {3}  {4}", llvm::left_justify(row[0], widths[0]),
        llvm::right_justify(row[1], widths[1]),
        llvm::left_justify(row[2], widths[2]),
        llvm::left_justify(row[3], widths[3]), row[4]);
    os << StringRef(line).rtrim() << "\n";
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

void MemoryReport::printJSON(raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto bytesAttribute = [&](StringRef key, const SizeExpr &bytes) {
    if (std::optional<uint64_t> number = bytes.getConstant())
      json.attribute(key, *number);
    else
      json.attribute(key, toString(bytes));
  };
  auto printResidual = [&](const ResidualInfo &info) {
    json.attribute("type", ::toString(info.type));
    bytesAttribute("bytes", info.bytes);
    json.attribute("for", llvm::join(info.neededBy, ", "));
    json.attribute("reason", info.reason);
  };
  auto printPolicy = [&](const PolicyResiduals &kept) {
    bytesAttribute("total_bytes", kept.total);
    json.attributeArray("residuals", [&] {
      for (const ResidualInfo &info : kept.residuals)
        json.object([&] { printResidual(info); });
    });
  };
  json.object([&] {
    json.attribute("entry", entry);
    json.attributeObject("policies", [&] {
      for (const PolicyResiduals &kept : policies)
        json.attributeObject(stringifyPolicy(kept.policy),
                             [&] { printPolicy(kept); });
    });
  });
  os << "\n";
}
