//===- ResultsToArguments.cpp - Results in buffers of the caller ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADRESULTSTOARGUMENTS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Checks that a caller knows which buffers to allocate.
static LogicalResult checkCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  // An external function stays as it is.
  if (!callee || callee.isExternal())
    return success();
  for (auto [index, type] : llvm::enumerate(call.getResultTypes())) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (buffer && !buffer.hasStaticShape())
      return call.emitError("result ")
             << index << " of a call of @" << call.getCallee()
             << " has the type " << type
             << ", whose size the caller does not know before: inline "
             << "the call, as --fad-inline-calls does, or give it a static "
                "size";
  }
  return success();
}

/// Whether upstream may take allocations of results for arguments. It does not
/// see that blocks return buffers that live at the same time, that a clone has
/// elements from another buffer, and that a buffer is returned twice.
static bool canReplaceAllocations(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return false;
  llvm::SmallDenseSet<Value> seen;
  auto isOneBuffer = [&](Value value) {
    return !isa<MemRefType>(value.getType()) ||
           (!value.getDefiningOp<bufferization::CloneOp>() &&
            seen.insert(value).second);
  };
  return llvm::all_of(function.front().getTerminator()->getOperands(),
                      isOneBuffer);
}

namespace {
struct ResultsToArgumentsPass
    : fad::impl::FadResultsToArgumentsBase<ResultsToArgumentsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto checked = module.walk([](func::CallOp call) {
      return failed(checkCall(call)) ? WalkResult::interrupt()
                                     : WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    // The second round sees only functions that the first one left.
    for (bool replaces : {true, false}) {
      bufferization::BufferResultsToOutParamsOpts options;
      options.modifyPublicFunctions = true;
      options.hoistStaticAllocs = options.hoistDynamicAllocs = replaces;
      options.filterFn = [=](func::FuncOp *function) {
        return !function->isExternal() &&
               (!replaces || canReplaceAllocations(*function));
      };
      if (failed(
              bufferization::promoteBufferResultsToOutParams(module, options)))
        return signalPassFailure();
    }
  }
};
} // namespace
