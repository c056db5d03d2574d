//===- TestPasses.h - Passes of tests that fad-opt registers ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TEST_TESTPASSES_H
#define FAD_TEST_TESTPASSES_H

namespace mlir {
class DialectRegistry;

namespace fad::test {

/// Registers the `test_rules` dialect with its derivative rules.
void registerTestRulesDialect(DialectRegistry &registry);

/// Registers `test-fad-kernel-to-host`.
void registerTestKernelToHostPass();

/// Registers `test-fad-break`.
void registerTestBreakPass();

/// Registers `test-fad-derivative`.
void registerTestDerivativePass();

/// Registers `test-fad-demanded-precision`.
void registerTestDemandedPrecisionPass();

/// Registers `test-fad-perturb-estimates`.
void registerTestPerturbEstimatesPass();

/// Registers `test-fad-residuals`.
void registerTestResidualsPass();

/// Registers all passes that exist for tests.
void registerTestPasses();

/// Registers these passes, and the dialect in `registry`.
void registerTests(DialectRegistry &registry);

} // namespace fad::test
} // namespace mlir

#endif // FAD_TEST_TESTPASSES_H
