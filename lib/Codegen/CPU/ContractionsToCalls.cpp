//===- ContractionsToCalls.cpp - Contractions to calls of a library -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Remarks.h"
#include "fad/Codegen/Linalg/Contraction.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADCONTRACTIONSTOCALLS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

#define DEBUG_TYPE "fad-contractions-to-calls"

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
static linalg::FillOp findZeroFill(DestinationStyleOpInterface op) {
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

/// The function `name` of `module`, which is declared if it is not there. Null,
/// after an error, if the program has another function of this name.
static func::FuncOp declare(ModuleOp module, StringRef name,
                            FunctionType type) {
  if (Operation *found = module.lookupSymbol(name)) {
    auto function = dyn_cast<func::FuncOp>(found);
    if (function && function.isExternal() && function.getFunctionType() == type)
      return function;
    found->emitError("'")
        << name
        << "' is a function of fad's runtime; give the program's another name";
    return nullptr;
  }
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, type);
  function.setPrivate();
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    builder.getUnitAttr());
  return function;
}

/// Replaces `op` by a call with its buffers, their loops, and flags.
static LogicalResult replaceByCall(RewriterBase &rewriter, ModuleOp module,
                                   linalg::LinalgOp op, bool parallel) {
  Location loc = op.getLoc();
  linalg::FillOp fill =
      findZeroFill(cast<DestinationStyleOpInterface>(op.getOperation()));
  SmallVector<int64_t> words;
  for (AffineMap map : op.getIndexingMapsArray())
    words.push_back(packLoops(map));
  constexpr int64_t accumulate = 1, oneThread = 2;
  words.push_back((fill ? 0 : accumulate) | (parallel ? 0 : oneThread));
  SmallVector<Type> types;
  for (Value operand : op->getOperands()) {
    auto type = cast<MemRefType>(operand.getType());
    types.push_back(
        UnrankedMemRefType::get(type.getElementType(), type.getMemorySpace()));
  }
  types.append(words.size(), rewriter.getI64Type());
  func::FuncOp callee =
      declare(module, ("fad_contract_" + getContractionType(op)).str(),
              rewriter.getFunctionType(types, {}));
  if (!callee)
    return failure();
  // Descriptors of unranked buffers lie on the stack, which would grow in a
  // loop.
  rewriter.setInsertionPoint(op);
  auto scope = memref::AllocaScopeOp::create(rewriter, loc, TypeRange());
  rewriter.createBlock(&scope.getBodyRegion());
  SmallVector<Value> arguments;
  for (auto [operand, type] : llvm::zip(op->getOperands(), types))
    arguments.push_back(memref::CastOp::create(rewriter, loc, type, operand));
  for (int64_t word : words)
    arguments.push_back(arith::ConstantIntOp::create(rewriter, loc, word, 64));
  func::CallOp::create(rewriter, loc, callee, arguments);
  memref::AllocaScopeReturnOp::create(rewriter, loc);
  rewriter.eraseOp(op);
  if (fill)
    rewriter.eraseOp(fill);
  return success();
}

namespace {
struct ContractionsToCallsPass
    : fad::impl::FadContractionsToCallsBase<ContractionsToCallsPass> {
  using FadContractionsToCallsBase::FadContractionsToCallsBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!op->hasAttr(kLibraryAttr) || !op.hasPureBufferSemantics())
        return;
      if (isContraction(op) && !getContractionType(op).empty())
        ops.push_back(op);
      else
        refuse(op);
    });
    numCalls += ops.size();
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      if (failed(replaceByCall(rewriter, getOperation(), op, parallel)))
        return signalPassFailure();
  }

  /// Says that passes since the selection have made `op` none for the library.
  void refuse(linalg::LinalgOp op) {
    ++numLoops;
    LDBG() << op.getLoc() << " is no contraction any more";
    emitMissedRemark(op, DEBUG_TYPE, "NotCalled",
                     "it is no contraction any more");
  }
};
} // namespace
