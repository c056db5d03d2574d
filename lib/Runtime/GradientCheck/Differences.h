//===- Differences.h - Central differences of a function --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_DIFFERENCES_H
#define FAD_LIB_RUNTIME_DIFFERENCES_H

#include "fad/Runtime/HostTensor.h"
#include <functional>

namespace mlir::fad {

/// A function of tensors in f64 whose results are weighted by cotangents.
class WeightedFunction {
public:
  using Call = std::function<llvm::Expected<SmallVector<HostTensor>>(
      ArrayRef<HostTensor>)>;

  /// `cotangents` belong to the results in `results`.
  static llvm::Expected<WeightedFunction>
  create(Call call, ArrayRef<HostTensor> arguments,
         ArrayRef<HostTensor> cotangents, ArrayRef<unsigned> results);

  /// <c, f(plus) - f(minus)>, where `plus` and `minus` replace `argument`. The
  /// difference of equal infinities is zero.
  llvm::Expected<double> getDifference(unsigned argument,
                                       const HostTensor &plus,
                                       const HostTensor &minus) const;

  /// Euclidean norm of the weighted results that are finite.
  double getNorm() const { return norm; }
  const HostTensor &getArgument(unsigned index) const {
    return arguments[index];
  }

private:
  llvm::Expected<SmallVector<HostTensor>> call(unsigned argument,
                                               const HostTensor &value) const;

  Call function;
  SmallVector<HostTensor> arguments, cotangents;
  SmallVector<unsigned> results;
  double norm = 0;
};

/// A direction of length 1 in the space of one argument.
class Direction {
public:
  static Direction axis(int64_t element) { return Direction(element, 0); }
  /// All components have the same magnitude.
  static Direction signs(uint64_t seed) { return Direction(-1, seed); }

  bool isAxis() const { return element >= 0; }
  int64_t getElement() const { return element; }
  uint64_t getSeed() const { return seed; }

private:
  Direction(int64_t element, uint64_t seed) : element(element), seed(seed) {}

  int64_t element;
  uint64_t seed;
};

/// Compares the gradient with respect to one argument with differences.
class Difference {
public:
  /// Errors are relative to the larger of `scale` and the terms of a
  /// directional derivative.
  static llvm::Expected<Difference> create(const WeightedFunction &function,
                                           unsigned argument,
                                           const HostTensor &gradient,
                                           double scale);

  /// The least error of the derivative in `direction` over several step
  /// lengths; the search ends once it is below `bound`.
  llvm::Expected<double> getError(const Direction &direction, double bound);

private:
  Difference(const WeightedFunction &function, unsigned argument,
             HostTensor gradient, double scale)
      : function(function), argument(argument), gradient(gradient),
        scale(scale) {}

  llvm::Expected<double> getErrorOfStep(const Direction &direction,
                                        double step);
  /// The steps to try for arguments of magnitude `magnitude`.
  static SmallVector<double> getSteps(double magnitude);
  /// Calls `callback` with each element that `direction` changes, and its
  /// component.
  template <typename Callback>
  void forEachComponent(const Direction &direction,
                        const Callback &callback) const;

  const WeightedFunction &function;
  unsigned argument;
  HostTensor gradient;
  double scale;
  /// The argument, stepped to either side.
  HostTensor plus, minus;
};

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_DIFFERENCES_H
