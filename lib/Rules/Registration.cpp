//===- Registration.cpp - Registration of all derivative rules ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Rules/Rules.h"

using namespace mlir;

void fad::registerAllRules(DialectRegistry &registry) {
  registerArithRules(registry);
  registerFadRules(registry);
  registerMathRules(registry);
  registerSCFRules(registry);
  registerTensorRules(registry);
}
