//===- Wave.h - A dialect that fad does not know ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EMBED_WAVE_H
#define EMBED_WAVE_H

#include "fad/Interfaces/DerivativeOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include "WaveDialect.h.inc"
#define GET_OP_CLASSES
#include "WaveOps.h.inc"

namespace wave {

/// Registers the dialect and its derivative rules.
void registerWave(mlir::DialectRegistry &registry);

/// A pass that rewrites the dialect to arith and math.
std::unique_ptr<mlir::Pass> createLowerWave();

} // namespace wave

#endif // EMBED_WAVE_H
