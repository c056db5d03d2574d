//===- SplitFunctions.cpp - Functions with many loops, in parts -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What LLVM's passes do to a loop takes time that grows with the loops before it
// in the function. A network is a function of a thousand loops, one after the
// other, many of them the same: each becomes a function, and equal ones one.
//
//===----------------------------------------------------------------------===//

#include "SplitFunctions.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

using namespace mlir;
using namespace mlir::fad;

/// So many loops, one after the other, are compiled in one function.
static constexpr size_t kMostLoops = 64;

static bool hasManyLoops(llvm::Function &function) {
  if (function.isDeclaration())
    return false;
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  return loops.getTopLevelLoops().size() > kMostLoops;
}

static void runPasses(llvm::Module &module, StringRef pipeline) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, pipeline));
  passes.run(module, modules);
}

/// Whether `object` is memory of its own: nothing that points elsewhere before
/// it is allocated points into it, and no pointer to it is in memory.
static bool isAllocation(const llvm::Value *object) {
  if (auto *local = dyn_cast<llvm::AllocaInst>(object))
    return local->getAllocatedType()->isIntOrIntVectorTy() ||
           local->getAllocatedType()->isFPOrFPVectorTy();
  return llvm::isNoAliasCall(object);
}

/// Says of the pointers that `function` takes which point into memory that no
/// other of them points into, as its only call shows.
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
    const llvm::Value *object = llvm::getUnderlyingObject(
        call->getArgOperand(parameter.getArgNo()));
    if (isAllocation(object) && uses.lookup(object) == 1)
      parameter.addAttr(llvm::Attribute::NoAlias);
  }
}

bool fad::splitFunctions(llvm::Module &module) {
  if (llvm::none_of(module, hasManyLoops))
    return false;
  llvm::SmallPtrSet<llvm::Function *, 16> old;
  for (llvm::Function &function : module)
    old.insert(&function);
  runPasses(module,
            "inferattrs,function(early-cse,loop-simplify),loop-extract");
  for (llvm::Function &function : module) {
    if (old.contains(&function))
      continue;
    function.addFnAttr(llvm::Attribute::NoInline);
    markDistinct(function);
  }
  runPasses(module, "mergefunc");
  return true;
}
