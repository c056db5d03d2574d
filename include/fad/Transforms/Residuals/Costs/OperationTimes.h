//===- OperationTimes.h - Estimated times of operations ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_COSTS_OPERATIONTIMES_H
#define FAD_TRANSFORMS_RESIDUALS_COSTS_OPERATIONTIMES_H

#include "fad/Analysis/MinCut.h"
#include "fad/Analysis/SizeExpr.h"
#include "fad/Analysis/TargetTimes.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace mlir::fad {

/// The bytes of a value whose type does not determine its size.
inline constexpr int64_t kUnknownBytes = std::numeric_limits<int64_t>::max();

/// So many operations that read the same tensors are the parts of a network,
/// not a value and its derivative, and share no transcendental functions.
inline constexpr unsigned kManyReaders = 16;

/// Whether each element of the results of `op` depends on few elements of the
/// operands, so that the operation fuses with its readers.
bool isElementwise(Operation *op);

/// Whether `op`, or something in it, is a contraction.
bool hasContraction(Operation *op);

/// The estimated times of operations, in units of the time that moving an
/// eighth of a byte between memory and processor takes.
class OperationTimes {
public:
  /// The size that replaces a dynamic one.
  using SizeFunction = std::function<uint64_t(const SizeSymbols::Symbol &)>;

  OperationTimes(const TargetTimes &times, SizeFunction sizeOf)
      : times(times), sizeOf(std::move(sizeOf)) {}

  const TargetTimes &getTarget() const { return times; }

  /// Lets the sizes of `argument`, of another function than `source`, be those
  /// of `source`.
  void bind(BlockArgument argument, Value source) {
    symbols.bind(argument, source);
  }

  /// Clears the caches and the bindings. Required between the erasure of values
  /// and further queries.
  void forgetValues() {
    symbols.forgetValues();
    bytesOf.clear();
  }

  /// Bytes of `value`; `nullopt` if its type does not determine them.
  std::optional<int64_t> getBytes(Value value);
  /// Elements of `tensor`; 0 if its type does not determine them.
  int64_t getElements(Value tensor);

  /// The time to execute `op`: for operations that fuse with their readers the
  /// arithmetic, for others also the memory traffic.
  Cost::Count getTime(Operation *op);
  /// The time of `inner`, operations in the body of `op`, if those of an
  /// element are `ofElement`.
  Cost::Count getTimeInBody(Operation *op, ArrayRef<Operation *> inner,
                            const TargetTimes &ofElement);

private:
  /// How often an operation executes its body, and the bytes that it moves.
  struct Extent {
    Cost::Count iterations = 0, traffic = 0;
  };
  Extent getExtent(Operation *op);
  uint64_t evaluate(const SizeExpr &expr);

  TargetTimes times;
  SizeFunction sizeOf;
  SizeSymbols symbols;
  llvm::DenseMap<Value, std::optional<int64_t>> bytesOf;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_COSTS_OPERATIONTIMES_H
