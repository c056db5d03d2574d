//===- RuntimeVerification.h - Sizes that are checked at run time -*- C++ -*-=//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_RUNTIMEVERIFICATION_H
#define FAD_CODEGEN_RUNTIMEVERIFICATION_H

namespace mlir {
class DialectRegistry;
class Operation;

namespace fad {

/// Attaches upstream's `RuntimeVerifiableOpInterface` to the operations that
/// write into a tensor, or read it as a vector, and that upstream does not
/// verify at run time.
void registerRuntimeVerification(DialectRegistry &registry);

/// Whether `fad-normalize` or `fad-to-linalg` replaces `op` by operations that
/// do not require all that `op` does. Its verification has to be generated
/// before these passes.
bool isVerifiedBeforeLowering(Operation *op);

} // namespace fad
} // namespace mlir

#endif // FAD_CODEGEN_RUNTIMEVERIFICATION_H
