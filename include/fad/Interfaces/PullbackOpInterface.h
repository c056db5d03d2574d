//===- PullbackOpInterface.h - Reverse rules of tensors ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_PULLBACKOPINTERFACE_H
#define FAD_INTERFACES_PULLBACKOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "fad/Interfaces/PullbackOpInterface.h.inc"

#endif // FAD_INTERFACES_PULLBACKOPINTERFACE_H
