//===- embed.c - fad in a compiler, through the C API ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Builds silu(x) * w on vectors of f64, nests it, compiles it, and runs forward
// and backward. Prints the value, the gradients, and the number of residuals.

#include "fad-c/Dialects.h"
#include "fad-c/Passes.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/ExecutionEngine.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#include <stdio.h>
#include <stdlib.h>

enum { size = 4, maxValues = 8 };

/// A vector as compiled code passes it.
typedef struct {
  double *allocated, *aligned;
  int64_t offset, size, stride;
} Vector;

static MlirStringRef text(const char *string) {
  return mlirStringRefCreateFromCString(string);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Appends an operation on `operands` to `block`. Returns its result, if it has
/// one.
static MlirValue append(MlirBlock block, const char *name, intptr_t numOperands,
                        const MlirValue *operands, intptr_t numResults) {
  MlirType type = mlirValueGetType(operands[0]);
  MlirLocation loc = mlirLocationUnknownGet(mlirTypeGetContext(type));
  MlirOperationState state = mlirOperationStateGet(text(name), loc);
  mlirOperationStateAddOperands(&state, numOperands, operands);
  mlirOperationStateAddResults(&state, numResults, &type);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(block, op);
  MlirValue none = {NULL};
  return numResults ? mlirOperationGetResult(op, 0) : none;
}

static MlirNamedAttribute name(MlirContext context, const char *key,
                               MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, text(key)), value);
}

/// A module of silu(x) * w.
static MlirModule buildProgram(MlirContext context) {
  MlirLocation loc = mlirLocationUnknownGet(context);
  int64_t shape[] = {size};
  MlirType vector = mlirRankedTensorTypeGet(1, shape, mlirF64TypeGet(context),
                                            mlirAttributeGetNull());
  MlirType inputs[] = {vector, vector};
  MlirLocation locs[] = {loc, loc};
  MlirBlock block = mlirBlockCreate(2, inputs, locs);
  MlirValue x = mlirBlockGetArgument(block, 0);
  MlirValue silu = append(block, "fad.silu", 1, &x, 1);
  MlirValue factors[] = {silu, mlirBlockGetArgument(block, 1)};
  MlirValue product = append(block, "arith.mulf", 2, factors, 1);
  append(block, "func.return", 1, &product, 0);

  MlirType type = mlirFunctionTypeGet(context, 2, inputs, 1, &vector);
  MlirNamedAttribute attributes[] = {
      name(context, "sym_name", mlirStringAttrGet(context, text("gate"))),
      name(context, "function_type", mlirTypeAttrGet(type))};
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  MlirOperationState state = mlirOperationStateGet(text("func.func"), loc);
  mlirOperationStateAddAttributes(&state, 2, attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirModule module = mlirModuleCreateEmpty(loc);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module),
                                mlirOperationCreate(&state));
  return module;
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

static void printError(MlirStringRef message, void *unused) {
  (void)unused;
  fwrite(message.data, 1, message.length, stderr);
}

/// Runs `pipeline` on `module`. Ends the program where that fails.
static void run(MlirModule module, const char *pipeline) {
  MlirPassManager pm = mlirPassManagerCreate(mlirModuleGetContext(module));
  if (mlirLogicalResultIsFailure(
          mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(pm),
                                text(pipeline), printError, NULL)) ||
      mlirLogicalResultIsFailure(
          mlirPassManagerRunOnOp(pm, mlirModuleGetOperation(module))))
    exit(1);
  mlirPassManagerDestroy(pm);
}

/// Gives the functions of `module` the interface that C can call. Returns the
/// number of results of the first one, the forward function.
static intptr_t prepareFunctions(MlirModule module) {
  MlirBlock body = mlirModuleGetBody(module);
  MlirOperation forward = mlirBlockGetFirstOperation(body);
  for (MlirOperation op = forward; !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    mlirOperationSetAttributeByName(
        op, text("llvm.emit_c_interface"),
        mlirUnitAttrGet(mlirModuleGetContext(module)));
  MlirAttribute type =
      mlirOperationGetAttributeByName(forward, text("function_type"));
  return mlirFunctionTypeGetNumResults(mlirTypeAttrGetValue(type));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Calls `function` with `arguments`; the results go to `results`, and the
/// caller frees them.
static void call(MlirExecutionEngine engine, const char *function,
                 Vector *arguments, intptr_t numArguments, Vector *results) {
  // The C interface takes a pointer to all results, and one to each argument.
  void *pointers[maxValues + 1] = {results};
  void *packed[maxValues + 1] = {&pointers[0]};
  for (intptr_t i = 0; i < numArguments; ++i) {
    pointers[i + 1] = &arguments[i];
    packed[i + 1] = &pointers[i + 1];
  }
  if (mlirLogicalResultIsFailure(
          mlirExecutionEngineInvokePacked(engine, text(function), packed)))
    exit(1);
}

static void print(const char *label, Vector vector) {
  printf("%s:", label);
  for (int64_t i = 0; i < vector.size; ++i)
    printf(" %.9f", vector.aligned[vector.offset + i * vector.stride]);
  printf("\n");
}

int main(void) {
  fadRegisterAllPasses();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  fadRegisterDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);

  MlirModule module = buildProgram(context);
  run(module, "builtin.module(fad-nest{policy=fad})");
  // The first one is the result.
  intptr_t numResiduals = prepareFunctions(module) - 1;
  if (numResiduals + 1 > maxValues)
    return 1;
  run(module, "builtin.module(fad-to-cpu{parallel=false})");
  MlirExecutionEngine engine = mlirExecutionEngineCreate(
      module, /*optLevel=*/2, /*numPaths=*/0, /*sharedLibPaths=*/NULL,
      /*enableObjectDump=*/false, /*enablePIC=*/false);
  if (mlirExecutionEngineIsNull(engine))
    return 1;

  double x[size] = {-2, -0.5, 0, 3}, w[size] = {1, 2, 3, 4};
  double ones[size] = {1, 1, 1, 1};
  Vector arguments[] = {{x, x, 0, size, 1}, {w, w, 0, size, 1}};
  // The result, then the residuals, which are the first arguments of backward.
  Vector forward[maxValues + 1], gradients[2];
  call(engine, "gate_forward", arguments, 2, forward);
  Vector cotangent = {ones, ones, 0, size, 1};
  forward[numResiduals + 1] = cotangent;
  call(engine, "gate_backward", forward + 1, numResiduals + 1, gradients);
  print("value", forward[0]);
  print("gradient of x", gradients[0]);
  print("gradient of w", gradients[1]);
  printf("residuals: %d\n", (int)numResiduals);

  for (intptr_t i = 0; i <= numResiduals; ++i)
    free(forward[i].allocated);
  for (int i = 0; i < 2; ++i)
    free(gradients[i].allocated);
  mlirExecutionEngineDestroy(engine);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return 0;
}
