//===- Explanation.cpp - Reasons for residuals ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Explains a selection from the joint function that has it. Values behind
// `fad.residual` are kept; from gradients and the operations on cotangents, a
// search finds what backward executes again. The reason to keep a value is the
// operation that may not be repeated, or else the operands that would be
// missing if it were. Remarks of MLIR say the same, one for each kept value and
// each repeated operation.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Explanation/Explanation.h"
#include "fad/Analysis/Remarks.h"
#include "fad/Analysis/SizeExpr.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

/// The operations of the backward part without those that only depend on the
/// sizes of a cotangent.
static DenseSet<Operation *> findBackward(const JointFunction &joint) {
  SmallVector<Operation *> ops =
      findDependent(joint.getFunction().front(), joint.getCotangents(),
                    [](Operation *op) { return isa<tensor::DimOp>(op); });
  return {ops.begin(), ops.end()};
}

namespace {
class Explainer {
public:
  Explainer(const JointFunction &joint, const SelectionOptions &options)
      : joint(joint), options(options), backward(findBackward(joint)),
        recomputation(joint), costs(recomputation, options),
        anyCosts(recomputation, options, RecomputeLevel::all) {}

  Explanation run();

private:
  /// Finds the values that backward reads and that do not depend on a
  /// cotangent.
  void findRecomputed();
  void findKept();
  /// Visits the forward part, to find the values that the residuals determine,
  /// and the layer of each value.
  void findAvailable();
  void explain(KeptValue &kept);
  /// The operands of `op` that the residuals do not determine.
  SmallVector<Value> findMissing(Operation *op);
  ResidualKind getKind(const KeptValue &kept) const;
  std::optional<Refusal> getRefusal(Operation *op);
  bool isContraction(Operation *op) {
    return isMemoryEffectFree(op) && !anyCosts.mayRecompute(op);
  }

  const JointFunction &joint;
  const SelectionOptions &options;
  /// The operations that depend on the elements of a cotangent.
  DenseSet<Operation *> backward;
  Recomputation recomputation;
  CostModel costs;
  /// Those of the level that allows most.
  CostModel anyCosts;
  llvm::SetVector<Operation *> executedAgain;
  DenseSet<Value> available;
  DenseMap<Value, unsigned> layers;
  Explanation result;
};
} // namespace

//===----------------------------------------------------------------------===//
// Kept values
//===----------------------------------------------------------------------===//

/// The value encoded in the bytes `packed`; `packed` itself if it is not an
/// encoding of few bits.
static Value getUnpacked(Value packed, int64_t &bits) {
  auto pack = packed.getDefiningOp<PackOp>();
  if (!pack)
    return packed;
  bits = pack.getBits();
  auto codes = pack.getCodes().getDefiningOp<ElementwiseOp>();
  return codes && codes->getNumOperands() == 1 ? codes->getOperand(0)
                                               : pack.getCodes();
}

void Explainer::findKept() {
  // A value that several adjoints read is kept once.
  llvm::MapVector<Value, KeptValue> kept;
  for (auto residual : joint.getFunction().front().getOps<ResidualOp>()) {
    KeptValue &info = kept[residual.getValue()];
    info.value = getUnpacked(residual.getValue(), info.bits);
    info.residuals.push_back(residual);
    available.insert(info.value);
  }
  for (auto &[value, info] : kept)
    result.kept.push_back(std::move(info));
}

ResidualKind Explainer::getKind(const KeptValue &kept) const {
  Operation *def = kept.value.getDefiningOp();
  if (!def)
    return ResidualKind::argument;
  if (recomputation.isKept(kept.value))
    return ResidualKind::result;
  if (isa<IndexType>(kept.value.getType()))
    return ResidualKind::size;
  return def->hasAttr(FadDialect::kAdjointOfAttr) ? ResidualKind::derivative
                                                  : ResidualKind::value;
}

std::optional<Refusal> Explainer::getRefusal(Operation *op) {
  if (costs.mayRecompute(op))
    return std::nullopt;
  if (!isMemoryEffectFree(op))
    return Refusal{Refusal::Cause::sideEffects};
  if (isContraction(op))
    return Refusal{Refusal::Cause::contraction};
  for (RecomputeLevel level :
       {RecomputeLevel::elementwise, RecomputeLevel::reductions})
    if (CostModel(recomputation, options, level).mayRecompute(op))
      return Refusal{Refusal::Cause::level, level};
  return Refusal{Refusal::Cause::level, RecomputeLevel::all};
}

void Explainer::findAvailable() {
  unsigned layer = 0;
  for (Operation &op : joint.getFunction().front().without_terminator()) {
    if (backward.contains(&op) || executedAgain.contains(&op))
      continue;
    layer += isContraction(&op);
    bool computable = costs.mayRecompute(&op);
    forEachReadOperand(&op, [&](Value operand) {
      computable &=
          available.contains(operand) || recomputation.isAlive(operand);
    });
    for (Value value : op.getResults()) {
      layers[value] = layer;
      if (computable)
        available.insert(value);
    }
  }
}

SmallVector<Value> Explainer::findMissing(Operation *op) {
  llvm::SetVector<Value> missing;
  SmallVector<Operation *> worklist = {op};
  while (!worklist.empty())
    forEachReadOperand(worklist.pop_back_val(), [&](Value operand) {
      if (available.contains(operand) || recomputation.isAlive(operand))
        return;
      // A view is replaced by its source.
      Operation *def = operand.getDefiningOp();
      if (isView(def))
        worklist.push_back(def);
      else
        missing.insert(operand);
    });
  return missing.takeVector();
}

void Explainer::explain(KeptValue &kept) {
  kept.kind = getKind(kept);
  kept.layer = layers.lookup(kept.value);
  if (kept.kind != ResidualKind::derivative && kept.kind != ResidualKind::value)
    return;
  Operation *def = kept.value.getDefiningOp();
  // The other policies weigh a derivative only, against its source.
  bool weighs = options.policy == Policy::automatic;
  if (!weighs && kept.kind != ResidualKind::derivative)
    return;
  kept.recomputeTime = saturate(costs.getRecomputeTime(def));
  if (weighs)
    kept.refusal = getRefusal(def);
  if (!kept.refusal)
    kept.insteadOf = findMissing(def);
}

//===----------------------------------------------------------------------===//
// Repeated operations
//===----------------------------------------------------------------------===//

void Explainer::findRecomputed() {
  SmallVector<Value> worklist(joint.getGradients());
  auto push = [&](OpOperand &operand) { worklist.push_back(operand.get()); };
  for (Operation *op : joint.getBackward())
    forEachOutsideOperand(op, push);
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (def && !isa<ResidualOp>(def) && !backward.contains(def) &&
        executedAgain.insert(def))
      forEachOutsideOperand(def, push);
  }
  for (Operation &op : joint.getFunction().front().without_terminator())
    if (executedAgain.contains(&op) && !isView(&op) && !isLookup(&op)) {
      SharedWork shared = costs.findSharedWork(&op);
      bool isFirst = !shared.leader || shared.leader == &op;
      result.recomputed.push_back(
          {&op, saturate(costs.getRecomputeTime(&op) -
                         (isFirst ? Cost::Count(0) : shared.time))});
    }
}

Explanation Explainer::run() {
  findKept();
  findRecomputed();
  findAvailable();
  for (KeptValue &kept : result.kept)
    explain(kept);
  return std::move(result);
}

Explanation fad::explainResiduals(const JointFunction &joint,
                                  const SelectionOptions &options) {
  return Explainer(joint, options).run();
}

//===----------------------------------------------------------------------===//
// In words
//===----------------------------------------------------------------------===//

std::string fad::explain(const KeptValue &kept,
                         function_ref<std::string(Value)> describe) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (kept.refusal) {
    os << kept.value.getDefiningOp()->getName() << " is not computed again: ";
    switch (kept.refusal->cause) {
    case Refusal::Cause::contraction:
      os << "a contraction";
      break;
    case Refusal::Cause::sideEffects:
      os << "it has side effects";
      break;
    case Refusal::Cause::level:
      os << "that takes recompute="
         << stringifyRecomputeLevel(kept.refusal->allowedBy);
      break;
    }
  } else if (!kept.insteadOf.empty()) {
    os << "instead of ";
    llvm::interleave(
        kept.insteadOf, os, [&](Value value) { os << describe(value); },
        " and ");
  } else if (kept.recomputeTime != 0) {
    os << "it could be computed from what is kept, in the time of moving "
       << kept.recomputeTime / 8 << " bytes";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

namespace {
/// Emits the remarks on one function.
class RemarkEmitter {
public:
  explicit RemarkEmitter(func::FuncOp function) : function(function) {}

  void emit(const KeptValue &kept);
  void emit(const RecomputedOp &recomputed);
  /// Emits how many values there are of each kind.
  void emitCounts(const Explanation &explanation, const Decider &decider);

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

void RemarkEmitter::emitCounts(const Explanation &explanation,
                               const Decider &decider) {
  remark::detail::InFlightRemark remark =
      remark::analysis(function.getLoc(), getOptions("Selected"));
  if (!remark)
    return;
  auto count = [&](auto isCounted) {
    return int64_t(llvm::count_if(explanation.kept, isCounted));
  };
  auto countKind = [&](ResidualKind kind) {
    return count([&](const KeptValue &kept) { return kept.kind == kind; });
  };
  if (decider.rule)
    remark << remark::detail::Remark::Arg("Rule",
                                          stringifyPolicy(*decider.rule));
  else
    remark << remark::metric("Candidates", decider.cut.candidates)
           << remark::metric("Edges", decider.cut.edges);
  remark << remark::metric("Derivatives", countKind(ResidualKind::derivative))
         << remark::metric("Values", countKind(ResidualKind::value))
         << remark::metric("Sizes", countKind(ResidualKind::size))
         << remark::metric("Free", countKind(ResidualKind::argument) +
                                       countKind(ResidualKind::result))
         << remark::metric("Refused", count([](const KeptValue &kept) {
                             return kept.refusal.has_value();
                           }))
         << remark::metric("Recomputed",
                           int64_t(explanation.recomputed.size()));
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

void fad::emitRemarks(func::FuncOp function, const SelectionOptions &options,
                      const Decider &decider) {
  if (!function.getContext()->getRemarkEngine())
    return;
  FailureOr<JointFunction> joint = JointFunction::get(function);
  if (failed(joint))
    return;
  Explanation explanation = explainResiduals(*joint, options);
  auto lock = lockRemarks();
  RemarkEmitter emitter(function);
  emitter.emitCounts(explanation, decider);
  for (const KeptValue &kept : explanation.kept)
    emitter.emit(kept);
  for (const RecomputedOp &recomputed : explanation.recomputed)
    emitter.emit(recomputed);
  // Shapes that were computed to tell sizes.
  eraseDeadOps(function.front());
}
