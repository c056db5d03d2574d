//===- AlternativesOp.cpp - fad.alternatives ------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"

using namespace mlir;
using namespace mlir::fad;

OpFoldResult AlternativesOp::fold(FoldAdaptor) {
  return llvm::all_equal(getValues()) ? getValues().front() : OpFoldResult();
}
