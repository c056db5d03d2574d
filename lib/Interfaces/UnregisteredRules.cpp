//===- UnregisteredRules.cpp - Rules that nobody has registered -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/UnregisteredRules.h"
#include "fad/Interfaces/AdjointOpInterface.h"
#include "fad/Interfaces/DerivativeOpInterface.h"

using namespace mlir;
using namespace mlir::fad;

ArrayRef<DialectWithRules> fad::getDialectsWithRules() {
  static constexpr DialectWithRules dialects[] = {{"arith", "arith.addf"},
                                                  {"fad", "fad.scatter_add"},
                                                  {"math", "math.exp"},
                                                  {"scf", "scf.for"},
                                                  {"tensor", "tensor.cast"}};
  return dialects;
}

bool fad::emitIfRulesAreUnregistered(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  for (const DialectWithRules &entry : getDialectsWithRules()) {
    if (entry.dialect != dialect)
      continue;
    auto name =
        RegisteredOperationName::lookup(entry.operation, op->getContext());
    if (!name || name->hasInterface<DerivativeOpInterface>() ||
        name->hasInterface<AdjointOpInterface>())
      return false;
    op->emitOpError("has no derivative rule, because no derivative rules are "
                    "registered for ")
        << dialect
        << ": call fad::registerAllRules (in C, fadRegisterDialects) with the "
           "registry of the context, or load fad's dialect plugin";
    return true;
  }
  return false;
}
