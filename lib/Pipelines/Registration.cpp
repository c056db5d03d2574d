//===- Registration.cpp - Registration of the pipelines -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Pipelines/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

/// Registers a pipeline for modules. PassPipelineRegistration would end the
/// process for a pipeline on another operation, and print errors in options
/// rather than report them.
template <typename Options>
static void registerPipeline(StringRef name, StringRef description,
                             void (*build)(OpPassManager &, const Options &)) {
  auto parse = [=](OpPassManager &pm, StringRef text,
                   function_ref<LogicalResult(const Twine &)> emitError) {
    std::optional<StringRef> anchor = pm.getOpName();
    if (anchor && *anchor != ModuleOp::getOperationName())
      return emitError("'" + name + "' is a pipeline for '" +
                       ModuleOp::getOperationName() + "', not for '" + *anchor +
                       "'");
    Options options;
    std::string message;
    if (failed(parseOptions(options, text, message)))
      return emitError(message);
    build(pm, options);
    return success();
  };
  registerPassPipeline(
      name, description, parse,
      [](function_ref<void(const mlir::detail::PassOptions &)> use) {
        use(Options());
      });
}

void fad::registerPipelines() {
  registerFadPipelinesPasses();
  registerPipeline<NestOptions>(
      "fad-nest",
      "Differentiate a function: forward mode in elementwise regions, reverse "
      "mode between them",
      buildNestPipeline);
  registerPipeline<ToCPUOptions>(
      "fad-to-cpu", "Lower tensors to the LLVM dialect for the host",
      buildToCPUPipeline);
  registerPipeline<ToCUDAOptions>(
      "fad-to-cuda",
      "Lower tensors to the LLVM dialect for the host, and elementwise "
      "operations to GPU kernels that it launches",
      buildToCUDAPipeline);
  registerPipeline<EmptyPipelineOptions>(
      "fad-to-iree", "Lower tensors to what IREE's compiler takes",
      [](OpPassManager &pm, const EmptyPipelineOptions &) {
        buildToIREEPipeline(pm);
      });
  registerPipeline<ToNVVMOptions>(
      "fad-to-nvvm", "Compile elementwise operations to GPU kernels",
      buildToNVVMPipeline);
}
