//===- ContractionsToCalls.cpp - Contractions to calls of a library -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Linalg/Contraction.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADCONTRACTIONSTOCALLS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The loop of each dimension of an operand, four bits each, the first
/// dimension in the lowest ones; 15 ends them.
static int64_t packLoops(AffineMap map) {
  uint64_t packed = 0;
  unsigned shift = 0;
  for (AffineExpr expr : map.getResults()) {
    packed |= uint64_t(cast<AffineDimExpr>(expr).getPosition()) << shift;
    shift += 4;
  }
  return packed | (uint64_t(15) << shift);
}

/// The fill with zeros that is the first use of the output of `op`, a fresh
/// buffer, and has no use but `op` after it up to `op`.
static linalg::FillOp findZeroFill(linalg::LinalgOp op) {
  Value output = op.getDpsInitOperand(0)->get();
  if (!output.getDefiningOp<memref::AllocOp>())
    return nullptr;
  linalg::FillOp fill;
  Block *block = op->getBlock();
  for (Operation *user : output.getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (!ancestor)
      return nullptr;
    if (ancestor == op || op->isBeforeInBlock(ancestor))
      continue;
    if (fill || !(fill = dyn_cast<linalg::FillOp>(user)))
      return nullptr;
  }
  if (!fill || fill->getBlock() != block ||
      fill.getDpsInitOperand(0)->get() != output ||
      !matchPattern(fill.getInputs().front(), m_PosZeroFloat()))
    return nullptr;
  return fill;
}

/// The function `name` of `module`, which is declared if it is not there.
static func::FuncOp declare(ModuleOp module, StringRef name,
                            FunctionType type) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, type);
  function.setPrivate();
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    builder.getUnitAttr());
  return function;
}

static void replaceByCall(RewriterBase &rewriter, ModuleOp module,
                          linalg::LinalgOp op) {
  Location loc = op.getLoc();
  linalg::FillOp fill = findZeroFill(op);
  // Descriptors of unranked buffers lie on the stack, which would grow in a
  // loop.
  rewriter.setInsertionPoint(op);
  auto scope = memref::AllocaScopeOp::create(rewriter, loc, TypeRange());
  rewriter.createBlock(&scope.getBodyRegion());
  SmallVector<Value> arguments;
  for (Value operand : op->getOperands()) {
    auto type = cast<MemRefType>(operand.getType());
    arguments.push_back(memref::CastOp::create(
        rewriter, loc,
        UnrankedMemRefType::get(type.getElementType(), type.getMemorySpace()),
        operand));
  }
  auto addWord = [&](int64_t word) {
    arguments.push_back(arith::ConstantIntOp::create(rewriter, loc, word, 64));
  };
  for (AffineMap map : op.getIndexingMapsArray())
    addWord(packLoops(map));
  addWord(/*accumulate=*/!fill);
  std::string name = ("fad_contract_" + getContractionTypes(op)).str();
  func::FuncOp callee =
      declare(module, name,
              rewriter.getFunctionType(ValueRange(arguments).getTypes(), {}));
  func::CallOp::create(rewriter, loc, callee, arguments);
  memref::AllocaScopeReturnOp::create(rewriter, loc);
  rewriter.eraseOp(op);
  if (fill)
    rewriter.eraseOp(fill);
}

namespace {
struct ContractionsToCallsPass
    : fad::impl::FadContractionsToCallsBase<ContractionsToCallsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      // Later passes may have changed it.
      if (op->hasAttr(kLibraryAttr) && op.hasPureBufferSemantics() &&
          isContraction(op) && !getContractionTypes(op).empty())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      replaceByCall(rewriter, getOperation(), op);
  }
};
} // namespace
