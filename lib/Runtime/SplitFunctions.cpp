//===- SplitFunctions.cpp - Functions with many loops, in parts -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The time of LLVM's passes on a loop grows with the number of loops before it
// in the function. A network is a sequence of a thousand loops, many of them
// equal: each becomes a function, and equal functions are merged. The block
// that passes tensor descriptors to it is not optimized, because LLVM would
// compare all of its loads and stores pairwise.
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace mlir;
using namespace mlir::fad;

/// So many loops, one after the other, are compiled in one function.
static constexpr size_t kMaxLoops = 64;

static bool hasManyLoops(llvm::Function &function) {
  if (function.isDeclaration())
    return false;
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  return loops.getTopLevelLoops().size() > kMaxLoops;
}

/// Whether `object` is an allocation without aliases: no earlier pointer points
/// into it, and no pointer to it is in memory.
static bool isAllocation(const llvm::Value *object) {
  if (auto *local = dyn_cast<llvm::AllocaInst>(object))
    return local->getAllocatedType()->isIntOrIntVectorTy() ||
           local->getAllocatedType()->isFPOrFPVectorTy();
  return llvm::isNoAliasCall(object);
}

/// Adds `noalias` to the pointer arguments of `function` that do not alias
/// others at its only call.
static void markDistinct(llvm::Function &function) {
  auto *call = function.hasOneUse()
                   ? dyn_cast<llvm::CallInst>(*function.user_begin())
                   : nullptr;
  if (!call || call->getCalledFunction() != &function)
    return;
  llvm::SmallDenseMap<const llvm::Value *, unsigned> uses;
  for (llvm::Value *argument : call->args()) {
    if (argument->getType()->isAggregateType())
      return;
    if (!argument->getType()->isPointerTy())
      continue;
    const llvm::Value *object = llvm::getUnderlyingObject(argument);
    if (!isAllocation(object) && !isa<llvm::Argument, llvm::Constant>(object))
      return;
    ++uses[object];
  }
  for (llvm::Argument &parameter : function.args()) {
    if (!parameter.getType()->isPointerTy())
      continue;
    const llvm::Value *object =
        llvm::getUnderlyingObject(call->getArgOperand(parameter.getArgNo()));
    if (isAllocation(object) && uses.lookup(object) == 1)
      parameter.addAttr(llvm::Attribute::NoAlias);
  }
}

void fad::simplifyInterface(llvm::Module &module) {
  for (llvm::Function &function : module) {
    StringRef name = function.getName();
    if (function.isDeclaration() || (!name.starts_with("_mlir_ciface_") &&
                                     !name.starts_with("_mlir__mlir_ciface_")))
      continue;
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
}

/// Makes each outermost loop of `function` a function. Upstream's pass would
/// read all of `function` for each of them.
static void extractLoops(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  llvm::CodeExtractorAnalysisCache cache(function);
  for (llvm::Loop *loop : loops.getTopLevelLoops()) {
    if (!loop->isLoopSimplifyForm())
      continue;
    llvm::CodeExtractor extractor(loop->getBlocks(), &dominators);
    llvm::Function *extracted = extractor.extractCodeRegion(cache);
    if (!extracted)
      continue;
    extracted->addFnAttr(llvm::Attribute::NoInline);
    markDistinct(*extracted);
  }
}

bool fad::splitFunctions(llvm::Module &module) {
  SmallVector<llvm::Function *> large;
  for (llvm::Function &function : module)
    if (hasManyLoops(function))
      large.push_back(&function);
  if (large.empty())
    return false;
  runPasses(module, "inferattrs,function(early-cse,loop-simplify)");
  llvm::for_each(large, [](auto *function) { extractLoops(*function); });
  runPasses(module, "mergefunc");
  return true;
}
