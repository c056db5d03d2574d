//===- FiniteValues.h - Scalars that take few values ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_FINITEVALUES_H
#define FAD_ANALYSIS_FINITEVALUES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::fad {

/// The values that `scalar`, computed in a body, can take, where these follow
/// from constants and conditions alone: the derivative of a rectifier is 0 or 1
/// whatever its operand is. They are what folders give for each choice of the
/// conditions, in the order in which they are found, as attributes of the type
/// of `scalar`; some of them may never occur. `nullopt` where there are none
/// such, or more than 16.
std::optional<SmallVector<Attribute>> findFiniteValues(Value scalar);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_FINITEVALUES_H
