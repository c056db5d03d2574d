//===- TestPasses.cpp - Passes of tests that fad-opt registers ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

void mlir::fad::test::registerTestPasses() {
  registerTestBreakPass();
  registerTestDerivativePass();
  registerTestKernelToHostPass();
  registerTestDemandedPrecisionPass();
  registerTestPerturbEstimatesPass();
  registerTestResidualsPass();
}
