//===- Pattern.cpp - Formulas as rewrite patterns -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formula.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::raise;

/// Whether `op` combines a term with a value yielded by other iterations of a
/// reduction. The kind of a reduction follows from this operation.
static bool combinesIterations(Operation *op) {
  auto reduction = dyn_cast_or_null<linalg::LinalgOp>(op->getParentOp());
  if (!reduction || reduction.getNumReductionLoops() == 0)
    return false;
  ArrayRef<BlockArgument> others = reduction.getRegionOutputArgs();
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return llvm::is_contained(others, operand);
  });
}

namespace {
/// Replaces the value of one of several formulas.
class RaisePattern : public RewritePattern {
public:
  struct Rule {
    SmallVector<Formula> formulas;
    Shared shared;
    BuildRaised build;
  };

  RaisePattern(StringRef root, PatternBenefit benefit, MLIRContext *context,
               std::shared_ptr<const Rule> rule)
      : RewritePattern(root, benefit, context), rule(std::move(rule)) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(
            getElementTypeOrSelf(type)) ||
        isa<UnrankedTensorType>(type))
      return rewriter.notifyMatchFailure(op, "primitives have no such type");

    if (combinesIterations(op))
      return rewriter.notifyMatchFailure(op, "a reduction combines with it");

    for (const Formula &formula : rule->formulas) {
      std::optional<FormulaMatch> match =
          matchFormula(formula, op, rule->shared);
      if (!match)
        continue;
      Value raised = rule->build(rewriter, op->getLoc(), *match);
      // The attributes of the value stay valid.
      raised.getDefiningOp()->setDiscardableAttrs(
          op->getDiscardableAttrDictionary());
      rewriter.replaceOp(op, raised);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "does not end a known formula");
  }

private:
  std::shared_ptr<const Rule> rule;
};
} // namespace

/// Collects the operations that may come last in `formula`.
static void collectRoots(const Formula &formula,
                         llvm::SmallSetVector<StringRef, 4> &roots) {
  switch (formula->kind) {
  case FormulaNode::Number:
  case FormulaNode::Variable:
  case FormulaNode::Parameter:
    return;
  case FormulaNode::Call:
    roots.insert(formula->name);
    return;
  case FormulaNode::Sum:
    roots.insert(arith::AddFOp::getOperationName());
    roots.insert(arith::SubFOp::getOperationName());
    return;
  case FormulaNode::Product:
    roots.insert(arith::MulFOp::getOperationName());
    roots.insert(arith::DivFOp::getOperationName());
    return;
  case FormulaNode::Quotient:
    roots.insert(arith::DivFOp::getOperationName());
    return;
  case FormulaNode::Select:
    roots.insert(arith::SelectOp::getOperationName());
    return;
  case FormulaNode::Either:
    for (const Formula &form : formula->parts)
      collectRoots(form, roots);
    return;
  }
}

void raise::addRaisePattern(RewritePatternSet &patterns,
                            ArrayRef<Formula> formulas, Shared shared,
                            BuildRaised build, PatternBenefit benefit) {
  auto rule = std::make_shared<const RaisePattern::Rule>(
      RaisePattern::Rule{llvm::to_vector(formulas), shared, std::move(build)});
  llvm::SmallSetVector<StringRef, 4> roots;
  for (const Formula &formula : formulas)
    collectRoots(formula, roots);
  for (StringRef root : roots)
    patterns.add<RaisePattern>(root, benefit, patterns.getContext(), rule);
}
