//===- Pattern.cpp - Formulas as rewrite patterns -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
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
  RaisePattern(StringRef root, MLIRContext *context, StringRef name,
               const Spelling &spelling)
      : RewritePattern(root, /*benefit=*/1, context), name(name),
        spelling(spelling) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(
            getElementTypeOrSelf(type)) ||
        isa<UnrankedTensorType>(type))
      return rewriter.notifyMatchFailure(op, "primitives have no such type");

    if (combinesIterations(op))
      return rewriter.notifyMatchFailure(op, "a reduction combines with it");

    for (const Formula &formula : spelling.formulas) {
      std::optional<FormulaMatch> match =
          matchFormula(formula, op, spelling.shared);
      if (!match)
        continue;
      Value raised = spelling.build
                         ? spelling.build(rewriter, op->getLoc(), *match)
                         : build(rewriter, op->getLoc(), *match);
      // The attributes of the value stay valid.
      raised.getDefiningOp()->setDiscardableAttrs(
          op->getDiscardableAttrDictionary());
      rewriter.replaceOp(op, raised);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "does not end a known formula");
  }

private:
  Value build(OpBuilder &builder, Location loc,
              const FormulaMatch &match) const {
    OperationState state(loc, name, match.x, match.x.getType());
    if (!spelling.parameter.empty())
      state.addAttribute(spelling.parameter,
                         builder.getF64FloatAttr(match.parameter));
    state.addAttribute("fastmath", arith::FastMathFlagsAttr::get(
                                       builder.getContext(), match.fastmath));
    return builder.create(state)->getResult(0);
  }

  StringRef name;
  Spelling spelling;
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

void raise::addRaisePattern(RewritePatternSet &patterns, StringRef name,
                            const Spelling &spelling) {
  llvm::SmallSetVector<StringRef, 4> roots;
  for (const Formula &formula : spelling.formulas)
    collectRoots(formula, roots);
  for (StringRef root : roots)
    patterns.add<RaisePattern>(root, patterns.getContext(), name, spelling);
}
