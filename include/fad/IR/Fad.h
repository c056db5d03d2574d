//===- Fad.h - The fad dialect, its attributes and operations ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_IR_FAD_H
#define FAD_IR_FAD_H

#include "fad/Interfaces/ActivationOpInterface.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/VectorInterfaces.h"

#include "fad/IR/FadDialect.h.inc"
#include "fad/IR/FadEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fad/IR/FadAttributes.h.inc"

namespace mlir::fad {
/// Marks an activation primitive that stands for a chain of simpler ones.
template <typename ConcreteType>
class Composite : public OpTrait::TraitBase<ConcreteType, Composite> {};

namespace raise {
struct Spelling;
} // namespace raise
} // namespace mlir::fad

#define GET_OP_CLASSES
#include "fad/IR/Activations.h.inc"
#define GET_OP_CLASSES
#include "fad/IR/FadOps.h.inc"

#endif // FAD_IR_FAD_H
