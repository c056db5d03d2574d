//===- FiniteValues.cpp - Scalars of few values ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/FiniteValues.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fad;

/// The largest number of values, and of conditions that take both truth values.
static constexpr unsigned kFewValues = 16, kFewConditions = 6;

namespace {
/// The computation of a scalar from constants and conditions.
struct Slice {
  SmallVector<Value> conditions;
  llvm::DenseMap<Value, Attribute> constants;
  /// In a topological order.
  SmallVector<Operation *> ops;
};
} // namespace

/// The backward slice of `scalar`; `nullopt` if it has other operands.
static std::optional<Slice> findSlice(Value scalar) {
  Slice slice;
  llvm::DenseSet<Value> done;
  // Depth first, without recursion: bodies may be deep.
  SmallVector<Value> stack = {scalar};
  while (!stack.empty()) {
    Value current = stack.back();
    if (done.contains(current)) {
      stack.pop_back();
      continue;
    }
    Operation *def = current.getDefiningOp();
    Attribute constant;
    if (matchPattern(current, m_Constant(&constant))) {
      slice.constants[current] = constant;
    } else if (current.getType().isInteger(1)) {
      slice.conditions.push_back(current);
      if (slice.conditions.size() > kFewConditions)
        return std::nullopt;
    } else if (!def || def->getNumRegions() != 0) {
      return std::nullopt;
    } else {
      size_t size = stack.size();
      llvm::copy_if(def->getOperands(), std::back_inserter(stack),
                    [&](Value operand) { return !done.contains(operand); });
      if (stack.size() != size)
        continue;
      slice.ops.push_back(def);
    }
    done.insert(current);
  }
  return slice;
}

bool fad::foldConstants(Operation *op,
                        llvm::DenseMap<Value, Attribute> &known) {
  SmallVector<Attribute> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return known.lookup(operand); });
  SmallVector<OpFoldResult> folded;
  if (llvm::is_contained(operands, nullptr) ||
      failed(op->fold(operands, folded)) ||
      folded.size() != op->getNumResults())
    return false;
  for (auto [result, value] : llvm::zip_equal(op->getResults(), folded)) {
    // A folder may return an operand.
    auto operand = llvm::dyn_cast_if_present<Value>(value);
    Attribute attribute = operand ? known.lookup(operand)
                                  : llvm::dyn_cast_if_present<Attribute>(value);
    if (!attribute)
      return false;
    known[result] = attribute;
  }
  return true;
}

std::optional<SmallVector<Attribute>> fad::findFiniteValues(Value scalar) {
  std::optional<Slice> slice = findSlice(scalar);
  if (!slice)
    return std::nullopt;
  Builder builder(scalar.getContext());
  SmallVector<Attribute> values;
  for (unsigned choice = 0; choice < 1u << slice->conditions.size(); ++choice) {
    llvm::DenseMap<Value, Attribute> known = slice->constants;
    for (auto [number, condition] : llvm::enumerate(slice->conditions))
      known[condition] = builder.getBoolAttr(choice >> number & 1);
    if (!llvm::all_of(slice->ops,
                      [&](Operation *op) { return foldConstants(op, known); }))
      return std::nullopt;
    Attribute value = known.lookup(scalar);
    if (!llvm::is_contained(values, value))
      values.push_back(value);
    if (values.size() > kFewValues)
      return std::nullopt;
  }
  return values;
}
