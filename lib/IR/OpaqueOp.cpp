//===- OpaqueOp.cpp - Operations of other frameworks ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"

using namespace mlir;
using namespace mlir::fad;

LogicalResult OpaqueOp::verify() {
  if (getKind() == OpaqueKind::view && getOperands().empty())
    return emitOpError("is a view, but has no operand whose memory it shares");
  return success();
}
