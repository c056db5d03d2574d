//===- Rules.h - Registration of derivative rules ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RULES_RULES_H
#define FAD_RULES_RULES_H

namespace mlir {
class DialectRegistry;

namespace fad {

/// Each attaches the rules of one dialect when that dialect is loaded.
void registerArithRules(DialectRegistry &registry);
void registerFadRules(DialectRegistry &registry);
void registerMathRules(DialectRegistry &registry);
void registerSCFRules(DialectRegistry &registry);
void registerTensorRules(DialectRegistry &registry);

/// All of the above.
void registerAllRules(DialectRegistry &registry);

} // namespace fad
} // namespace mlir

#endif // FAD_RULES_RULES_H
