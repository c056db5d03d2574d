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
#include <vector>

namespace mlir::fad {

/// A direction of length 1 in the space of one argument, by component.
using Direction = std::vector<double>;
Direction makeAxis(int64_t size, int64_t element);
/// All components have the same magnitude.
Direction makeSigns(int64_t size, uint64_t seed);

/// A function of tensors in f64 whose results are weighted by cotangents.
class WeightedFunction {
public:
  using Call = std::function<llvm::Expected<SmallVector<HostTensor>>(
      ArrayRef<HostTensor>)>;

  /// `cotangents` belong to the results in `results`.
  static llvm::Expected<WeightedFunction>
  create(Call call, ArrayRef<HostTensor> arguments,
         ArrayRef<HostTensor> cotangents, ArrayRef<unsigned> results);

  /// The least error of `gradient`, that with respect to `argument`, in
  /// `direction` over several step lengths; the search ends once it is below
  /// `bound`. Errors are relative to the larger of `scale` and the terms of the
  /// directional derivative. The error is NaN if the differences are so for all
  /// steps.
  llvm::Expected<double> getError(unsigned argument, const HostTensor &gradient,
                                  double scale, const Direction &direction,
                                  double bound) const;

  /// The central difference with respect to one element of `argument`.
  llvm::Expected<double> getSlope(unsigned argument, int64_t element) const;

  /// Euclidean norm of the weighted results that are finite.
  double getNorm() const { return norm; }

private:
  /// <c, f(plus) - f(minus)>, where `plus` and `minus` replace `argument`. The
  /// difference of equal infinities is zero.
  llvm::Expected<double> getDifference(unsigned argument,
                                       const HostTensor &plus,
                                       const HostTensor &minus) const;
  llvm::Expected<SmallVector<HostTensor>> call(unsigned argument,
                                               const HostTensor &value) const;

  Call function;
  SmallVector<HostTensor> arguments, cotangents;
  SmallVector<unsigned> results;
  double norm = 0;
};

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_DIFFERENCES_H
