//===- Detach.h - Where gradients stop --------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_IR_DETACH_H
#define FAD_IR_DETACH_H

#include "fad/IR/Fad.h"

#define GET_OP_CLASSES
#include "fad/IR/FadDetach.h.inc"

#endif // FAD_IR_DETACH_H
