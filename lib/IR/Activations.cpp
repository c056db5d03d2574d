//===- Activations.cpp - Functions of one number --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Spelling.h"
#include "fad/Interfaces/Formulas.h"
#include "mlir/Dialect/CommonFolders.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

/// Folds a constant operand by evaluating the formula in double precision and
/// rounding once to the type of the operand.
static OpFoldResult foldActivation(ActivationOpInterface op,
                                   ArrayRef<Attribute> operands) {
  return constFoldUnaryOp<FloatAttr, FloatAttr::ValueType, void>(
      operands, [&](const APFloat &x) {
        APFloat y(op.getValueAt(x.convertToDouble()).getConstant());
        bool losesInfo;
        y.convert(x.getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
        return y;
      });
}

#define GET_OP_CLASSES
#include "fad/IR/Activations.cpp.inc"
