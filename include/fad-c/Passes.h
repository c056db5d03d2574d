//===- Passes.h - C API of the passes and pipelines -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_C_PASSES_H
#define FAD_C_PASSES_H

// mlirRegisterFadTransformsPasses, mlirCreateFadTransformsFadPartition, ...
#include "fad/Codegen/Passes.capi.h.inc"
#include "fad/Transforms/Passes.capi.h.inc"

#ifdef __cplusplus
extern "C" {
#endif

/// Registers every pass and pipeline of fad by its name, so that
/// mlirParsePassPipeline knows `fad-nest` and the others.
MLIR_CAPI_EXPORTED void fadRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif // FAD_C_PASSES_H
