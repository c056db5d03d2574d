//===- Remarks.cpp - Choices of residuals as optimization remarks ---------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits an explanation as optimization remarks of MLIR, one for each kept value
// and each repeated operation.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Remarks.h"
#include "fad/Analysis/SizeExpr.h"
#include "fad/Transforms/Residuals/Explanation/Explanation.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Emits the remarks on one function.
class RemarkEmitter {
public:
  explicit RemarkEmitter(func::FuncOp function) : function(function) {}

  void emit(const KeptValue &kept);
  void emit(const RecomputedOp &recomputed);

private:
  remark::RemarkOpts getOptions(StringRef name) {
    return remark::RemarkOpts::name(name)
        .category("fad-residuals")
        .function(function.getSymName());
  }
  /// The bytes of `value`, a number or a formula.
  std::string getBytes(Value value);

  func::FuncOp function;
  SizeSymbols symbols;
};
} // namespace

std::string RemarkEmitter::getBytes(Value value) {
  std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
  if (!bytes)
    return "unknown";
  std::string text;
  llvm::raw_string_ostream os(text);
  bytes->print(os, [&](unsigned symbol) { return symbols.getName(symbol); });
  return text;
}

void RemarkEmitter::emit(const KeptValue &kept) {
  using Arg = remark::detail::Remark::Arg;
  Location loc = kept.value.getLoc();
  ResidualOp residual = kept.residuals.front();
  bool isFree =
      kept.kind == ResidualKind::argument || kept.kind == ResidualKind::result;
  remark::detail::InFlightRemark remark =
      isFree         ? remark::analysis(loc, getOptions("Free"))
      : kept.refusal ? remark::missed(loc, getOptions("Refused"))
                     : remark::passed(loc, getOptions("Kept"));
  if (!remark)
    return;
  llvm::SetVector<StringRef> readers;
  for (ResidualOp op : kept.residuals)
    for (StringRef name : op.getNeededBy().getAsValueRange<StringAttr>())
      readers.insert(name);
  remark << Arg("Reason", residual.getReason())
         << Arg("Type", residual.getType())
         << Arg("Bytes", isFree ? "0" : getBytes(residual.getValue()));
  if (!readers.empty())
    remark << Arg("For", llvm::join(readers, ", "));
  std::string because = explain(kept, [&](Value value) {
    std::string text = getBytes(value) + " bytes";
    if (Operation *def = value.getDefiningOp())
      text += " of " + def->getName().getStringRef().str();
    std::string where = describeLocation(value.getLoc());
    return where.empty() ? text : text + " at " + where;
  });
  if (!because.empty())
    remark << Arg("Because", because);
}

void RemarkEmitter::emit(const RecomputedOp &recomputed) {
  using Arg = remark::detail::Remark::Arg;
  Operation *op = recomputed.op;
  remark::detail::InFlightRemark remark =
      remark::passed(op->getLoc(), getOptions("Recomputed"));
  if (!remark)
    return;
  remark << Arg("Operation", op->getName().getStringRef());
  if (op->getNumResults() == 1)
    remark << Arg("Bytes", getBytes(op->getResult(0)));
  // The unit is the time in which memory moves one byte.
  remark << Arg("Time", recomputed.time / 8);
}

std::string fad::describeLocation(Location location) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ":" << file.getLine() << ":"
       << file.getColumn();
  else if (auto name = location->findInstanceOf<NameLoc>())
    os << name.getName().getValue();
  return text;
}

void fad::emitRemarks(func::FuncOp function, const SelectionOptions &options) {
  if (!function.getContext()->getRemarkEngine())
    return;
  FailureOr<JointFunction> joint = JointFunction::get(function);
  if (failed(joint))
    return;
  Explanation explanation = explainResiduals(*joint, options);
  RemarkEmitter emitter(function);
  for (const KeptValue &kept : explanation.kept)
    emitter.emit(kept);
  for (const RecomputedOp &recomputed : explanation.recomputed)
    emitter.emit(recomputed);
  // Shapes that were computed to tell sizes.
  eraseDeadOps(function.front());
}
