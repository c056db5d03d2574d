//===- nest.c - Nests a function through the C API ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reads a function, nests it, and lowers it for the CPU; then creates a pass
// without its name; then asks for what cannot be done.

#include "fad-c/Dialects.h"
#include "fad-c/Passes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#include <stdio.h>

static const char *const silu =
    "func.func @silu(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
    "  %y = fad.silu %x : tensor<?xf32>\n"
    "  return %y : tensor<?xf32>\n"
    "}\n";

static void printText(MlirStringRef text, void *file) {
  fwrite(text.data, 1, text.length, file);
}

static MlirLogicalResult printDiagnostic(MlirDiagnostic diagnostic,
                                         void *file) {
  fputs("diagnostic: ", file);
  mlirDiagnosticPrint(diagnostic, printText, file);
  fputs("\n", file);
  return mlirLogicalResultSuccess();
}

/// Runs `pipeline` on the function above. Returns whether that succeeded.
static bool run(MlirContext context, const char *pipeline) {
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(silu));
  MlirPassManager pm = mlirPassManagerCreate(context);
  bool done =
      mlirLogicalResultIsSuccess(mlirParsePassPipeline(
          mlirPassManagerGetAsOpPassManager(pm),
          mlirStringRefCreateFromCString(pipeline), printText, stdout)) &&
      mlirLogicalResultIsSuccess(
          mlirPassManagerRunOnOp(pm, mlirModuleGetOperation(module)));
  if (done)
    mlirOperationPrint(mlirModuleGetOperation(module), printText, stdout);
  mlirPassManagerDestroy(pm);
  mlirModuleDestroy(module);
  return done;
}

static bool runExpandPrimitives(MlirContext context) {
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(silu));
  MlirPassManager pm = mlirPassManagerCreate(context);
  mlirPassManagerAddOwnedPass(pm, mlirCreateFadCodegenFadExpandPrimitives());
  bool done = mlirLogicalResultIsSuccess(
      mlirPassManagerRunOnOp(pm, mlirModuleGetOperation(module)));
  mlirOperationPrint(mlirModuleGetOperation(module), printText, stdout);
  mlirPassManagerDestroy(pm);
  mlirModuleDestroy(module);
  return done;
}

int main(void) {
  fadRegisterAllPasses();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  fadRegisterDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirContextAttachDiagnosticHandler(context, printDiagnostic, stdout, NULL);

  bool nested = run(context, "builtin.module(fad-nest{policy=fad})");
  bool lowered =
      run(context, "builtin.module(fad-nest{policy=fad},fad-to-cpu)");
  bool expanded = runExpandPrimitives(context);
  bool unknownEntry = run(context, "builtin.module(fad-nest{entry=gelu})");
  printf("nested: %d, lowered: %d, expanded: %d, unknown entry: %d\n", nested,
         lowered, expanded, unknownEntry);

  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
