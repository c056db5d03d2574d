//===- embed.cpp - fad in a compiler, in C++ ------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Builds a function with operations of the dialect `wave`, nests it, and runs
// forward and backward. Prints a value, a gradient, and the residuals in
// between.

#include "Wave.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Rules/Rules.h"
#include "fad/Runtime/CompiledModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

/// chirp(snake(x)) on tensors of four elements in f64.
static OwningOpRef<ModuleOp> buildProgram(MLIRContext &context) {
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  auto type = RankedTensorType::get(4, builder.getF64Type());
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "wave",
                                       builder.getFunctionType(type, type));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value snake = wave::SnakeOp::create(builder, loc, function.getArgument(0),
                                      llvm::APFloat(3.0));
  Value chirp = wave::ChirpOp::create(builder, loc, snake);
  func::ReturnOp::create(builder, loc, chirp);
  return module;
}

/// Forward and backward in `module`, whose operations are upstream's and fad's.
static LogicalResult nest(ModuleOp module) {
  PassManager pm(module.getContext());
  fad::NestOptions options;
  options.policy = fad::Policy::fad;
  fad::buildNestPipeline(pm, options);
  // After fad, which differentiates what it sees.
  pm.addPass(wave::createLowerWave());
  return pm.run(module);
}

/// The results of `function`. Ends the program where there are none.
static SmallVector<fad::HostTensor> call(const fad::CompiledModule &compiled,
                                         StringRef function,
                                         ArrayRef<fad::HostTensor> arguments) {
  return llvm::cantFail(compiled.call(function, arguments));
}

int main() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<fad::FadDialect>();
  fad::registerAllRules(registry);
  // For running what was compiled.
  fad::registerRuntimeExtensions(registry);
  wave::registerWave(registry);
  MLIRContext context(registry);
  context.loadDialect<func::FuncDialect, wave::WaveDialect>();

  OwningOpRef<ModuleOp> module = buildProgram(context);
  if (failed(nest(*module)))
    return 1;
  FailureOr<fad::CompiledModule> compiled =
      fad::CompiledModule::compile(*module);
  if (failed(compiled))
    return 1;

  auto type = RankedTensorType::get(4, Float64Type::get(&context));
  fad::HostTensor x = llvm::cantFail(fad::HostTensor::create(type));
  fad::HostTensor ones = llvm::cantFail(fad::HostTensor::create(type));
  for (int64_t i = 0; i < 4; ++i) {
    x.setFloat(i, 0.5 * i - 0.75);
    ones.setFloat(i, 1);
  }
  // The results, then the residuals; backward takes the residuals, then a
  // cotangent for each result.
  SmallVector<fad::HostTensor> forward = call(*compiled, "wave_forward", x);
  SmallVector<fad::HostTensor> arguments(llvm::drop_begin(forward));
  arguments.push_back(ones);
  SmallVector<fad::HostTensor> gradients =
      call(*compiled, "wave_backward", arguments);
  llvm::outs() << "value:";
  for (double element : forward[0].getF64())
    llvm::outs() << llvm::format(" %.9f", element);
  llvm::outs() << "\ngradient:";
  for (double element : gradients[0].getF64())
    llvm::outs() << llvm::format(" %.9f", element);
  llvm::outs() << "\nresiduals: " << forward.size() - 1 << "\n";
  return 0;
}
