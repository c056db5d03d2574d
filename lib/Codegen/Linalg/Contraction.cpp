//===- Contraction.cpp - Recognition of contractions ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Linalg/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fad;

/// `value` before an extension to a wider type.
static Value lookThroughExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn() : value;
}

bool fad::addsProduct(Block &block) {
  if (block.getNumArguments() != 3 ||
      block.getTerminator()->getNumOperands() != 1)
    return false;
  auto sum =
      block.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  Value output = block.getArgument(2);
  Value other = sum.getLhs() == output   ? sum.getRhs()
                : sum.getRhs() == output ? sum.getLhs()
                                         : Value();
  auto product = other ? other.getDefiningOp<arith::MulFOp>() : nullptr;
  if (!product)
    return false;
  std::pair<Value, Value> factors(lookThroughExtension(product.getLhs()),
                                  lookThroughExtension(product.getRhs()));
  Value a = block.getArgument(0), b = block.getArgument(1);
  return factors == std::pair(a, b) || factors == std::pair(b, a);
}

bool fad::isContraction(linalg::LinalgOp op) {
  // Four bits of a word of the call are for each dimension.
  constexpr unsigned maxLoops = 14;
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumLoops() > maxLoops || !op.hasOnlyProjectedPermutations() ||
      !llvm::all_of(
          op->getOperands(),
          [](Value operand) { return isa<ShapedType>(operand.getType()); }) ||
      !addsProduct(*op.getBlock()))
    return false;
  auto dims = linalg::inferContractionDims(op);
  if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty())
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool isKnown = llvm::any_of(
        ArrayRef{&dims->batch, &dims->m, &dims->n, &dims->k},
        [&](auto *known) { return llvm::is_contained(*known, loop); });
    if (!isKnown && ranges[loop] != 1)
      return false;
  }
  return true;
}

StringRef fad::getContractionType(linalg::LinalgOp op) {
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!llvm::all_of(op->getOperandTypes(), [&](Type operand) {
        return getElementTypeOrSelf(operand) == type;
      }))
    return {};
  return type.isF32() ? "f32" : type.isF64() ? "f64" : "";
}
