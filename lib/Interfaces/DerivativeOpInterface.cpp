//===- DerivativeOpInterface.cpp - Scalar derivative rules ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Interfaces/ActivationOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::fad;

FloatType fad::getTangentType(Type type) {
  if (isa<Float16Type, BFloat16Type>(type))
    return Float32Type::get(type.getContext());
  if (isa<Float32Type, Float64Type>(type))
    return cast<FloatType>(type);
  return {};
}

Expr fad::detail::sumOfProducts(Operation *op, const Primal &at,
                                unsigned result, ArrayRef<Expr> tangents,
                                bool preferResults) {
  auto rule = cast<DerivativeOpInterface>(op);
  // If one value is several operands, its constant factors add up first: the
  // derivative of x - x is zero for every x, and needs no residual.
  SmallVector<std::pair<Expr, Expr>> products;
  llvm::SmallDenseMap<Value, unsigned> constantOf;
  for (auto [operand, tangent] : llvm::enumerate(tangents)) {
    if (!tangent)
      continue;
    Expr partial;
    if (preferResults)
      partial = rule.partialFromResult(at, result, operand);
    if (!partial)
      partial = rule.partial(at, result, operand);
    if (!partial)
      continue;
    if (partial.isConstant()) {
      auto [it, isNew] =
          constantOf.try_emplace(op->getOperand(operand), products.size());
      if (!isNew) {
        Expr &other = products[it->second].first;
        other = other + partial;
        continue;
      }
    }
    products.emplace_back(partial, tangent);
  }
  Expr sum;
  for (const auto &[partial, tangent] : products) {
    if (partial.isConstant(0))
      continue;
    Expr term = tangentProduct(partial, convert(tangent, at.builder.type));
    sum = sum ? sum + term : term;
  }
  return sum;
}

#include "fad/Interfaces/ActivationOpInterface.cpp.inc"
#include "fad/Interfaces/DerivativeOpInterface.cpp.inc"
