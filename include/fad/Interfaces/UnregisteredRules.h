//===- UnregisteredRules.h - Rules that nobody has registered ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_UNREGISTEREDRULES_H
#define FAD_INTERFACES_UNREGISTEREDRULES_H

#include "mlir/IR/Operation.h"

namespace mlir::fad {

/// A dialect that `registerAllRules` gives rules to, and one of its operations
/// that get one.
struct DialectWithRules {
  StringLiteral dialect, operation;
};
ArrayRef<DialectWithRules> getDialectsWithRules();

/// Whether `op`, which has no rule, belongs to such a dialect whose rules are
/// not registered in this context. Emits an error then, which says how to
/// register them.
bool emitIfRulesAreUnregistered(Operation *op);

} // namespace mlir::fad

#endif // FAD_INTERFACES_UNREGISTEREDRULES_H
