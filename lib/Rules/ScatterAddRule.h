//===- ScatterAddRule.h - Reverse rule of fad.scatter_add -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RULES_SCATTERADDRULE_H
#define FAD_LIB_RULES_SCATTERADDRULE_H

namespace mlir {
class MLIRContext;

namespace fad {

/// Attaches the rule once the fad dialect is loaded.
void attachScatterAddRule(MLIRContext *context);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_RULES_SCATTERADDRULE_H
