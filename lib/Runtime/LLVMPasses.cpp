//===- LLVMPasses.cpp - Passes of LLVM on a module ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"
#include "llvm/Passes/PassBuilder.h"

using namespace mlir;
using namespace mlir::fad;

/// Runs the passes that `build` makes on `module`.
static void runPasses(
    llvm::Module &module, llvm::PassBuilder &builder,
    llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> build) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  build(builder).run(module, modules);
}

void fad::runPasses(llvm::Module &module, StringRef pipeline) {
  llvm::PassBuilder builder;
  ::runPasses(module, builder, [&](llvm::PassBuilder &builder) {
    llvm::ModulePassManager passes;
    llvm::cantFail(builder.parsePassPipeline(passes, pipeline));
    return passes;
  });
}

void fad::optimize(llvm::Module &module, llvm::TargetMachine &machine,
                   unsigned level, bool isNetwork) {
  if (level == 0)
    return runPasses(module, "function(sroa,early-cse,simplifycfg)");
  const llvm::OptimizationLevel &passes =
      level == 1                ? llvm::OptimizationLevel::O1
      : level == 2 || isNetwork ? llvm::OptimizationLevel::O2
                                : llvm::OptimizationLevel::O3;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopInterleaving = true;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopUnrolling = !isNetwork;
  llvm::PassBuilder builder(&machine, tuning);
  ::runPasses(module, builder, [&](llvm::PassBuilder &builder) {
    return builder.buildPerModuleDefaultPipeline(passes);
  });
}
