//===- ActivationOpInterface.h - Functions of a number ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_ACTIVATIONOPINTERFACE_H
#define FAD_INTERFACES_ACTIVATIONOPINTERFACE_H

#include "fad/Interfaces/Expr.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::fad {

/// The slowest kind of operation that an activation is computed by.
enum class ActivationTime { arithmetic, division, transcendental };

} // namespace mlir::fad

#include "fad/Interfaces/ActivationOpInterface.h.inc"

#endif // FAD_INTERFACES_ACTIVATIONOPINTERFACE_H
