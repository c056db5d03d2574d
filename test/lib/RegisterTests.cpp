//===- RegisterTests.cpp - The tests' parts of a program ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

/// Called by the programs that this file is linked into.
void mlir::fad::test::registerTests(DialectRegistry &registry) {
  registerTestRulesDialect(registry);
  registerTestPasses();
}
