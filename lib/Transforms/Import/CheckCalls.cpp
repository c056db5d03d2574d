//===- CheckCalls.cpp - Limit the growth by inlining ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/SymbolUses.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/SCCIterator.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADCHECKCALLS
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Counts the operations that inlining adds to a module.
class InlinedOperations {
public:
  explicit InlinedOperations(uint64_t limit) : limit(limit) {}

  /// Adds the operations inlined into `callable`, after all of its callees.
  /// Fails, with an error at a call, if these are too many.
  LogicalResult add(Region *callable);

private:
  /// The operations of the callee of `call`, after inlining into it; 0 if it is
  /// unknown or recursive.
  uint64_t getSize(CallOpInterface call);

  uint64_t limit, total = 0;
  SymbolTableCollection symbols;
  DenseMap<Region *, uint64_t> sizes;
};
} // namespace

uint64_t InlinedOperations::getSize(CallOpInterface call) {
  auto callee = dyn_cast_or_null<CallableOpInterface>(
      call.resolveCallableInTable(&symbols));
  return callee ? sizes.lookup(callee.getCallableRegion()) : 0;
}

LogicalResult InlinedOperations::add(Region *callable) {
  uint64_t size = 0;
  WalkResult result = callable->walk([&](Operation *op) {
    auto call = dyn_cast<CallOpInterface>(op);
    uint64_t added = call ? getSize(call) : 0;
    size += 1 + added;
    total += added;
    if (total <= limit)
      return WalkResult::advance();
    op->emitError("inlining would add ")
        << added << " operations for this call, and " << total
        << " for all calls up to it, where " << limit
        << " is the most; call functions less often, or in a loop";
    return WalkResult::interrupt();
  });
  sizes[callable] = size;
  return failure(result.wasInterrupted());
}

namespace {
struct CheckCallsPass : fad::impl::FadCheckCallsBase<CheckCallsPass> {
  using FadCheckCallsBase::FadCheckCallsBase;

  void runOnOperation() override {
    if (failed(checkSymbolUses(getOperation())))
      return signalPassFailure();
    const CallGraph &graph = getAnalysis<CallGraph>();
    InlinedOperations inlined(limit);
    // Callees come first, as in inlining.
    for (auto it = llvm::scc_begin(&graph); !it.isAtEnd(); ++it)
      for (CallGraphNode *node : *it)
        if (!node->isExternal() &&
            failed(inlined.add(node->getCallableRegion())))
          return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
