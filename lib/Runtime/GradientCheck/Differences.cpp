//===- Differences.cpp - Central differences of a function ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"
#include "fad/Runtime/Random.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// WeightedFunction
//===----------------------------------------------------------------------===//

llvm::Expected<WeightedFunction>
WeightedFunction::create(Call call, ArrayRef<HostTensor> arguments,
                         ArrayRef<HostTensor> cotangents,
                         ArrayRef<unsigned> results) {
  WeightedFunction function;
  function.function = std::move(call);
  llvm::append_range(function.arguments, arguments);
  llvm::append_range(function.cotangents, cotangents);
  llvm::append_range(function.results, results);
  auto values = function.function(arguments);
  if (!values)
    return values.takeError();
  double sum = 0;
  for (auto [cotangent, result] : llvm::zip(cotangents, results)) {
    for (auto [c, value] :
         llvm::zip(cotangent.getF64(), (*values)[result].getF64()))
      if (std::isfinite(c * value))
        sum += c * value * c * value;
  }
  function.norm = std::sqrt(sum);
  return function;
}

llvm::Expected<SmallVector<HostTensor>>
WeightedFunction::call(unsigned argument, const HostTensor &value) const {
  SmallVector<HostTensor> changed(arguments);
  changed[argument] = value;
  return function(changed);
}

llvm::Expected<double>
WeightedFunction::getDifference(unsigned argument, const HostTensor &plus,
                                const HostTensor &minus) const {
  auto above = call(argument, plus);
  if (!above)
    return above.takeError();
  auto below = call(argument, minus);
  if (!below)
    return below.takeError();
  // Subtraction first cancels the common part of the results.
  double sum = 0;
  for (auto [cotangent, result] : llvm::zip(cotangents, results)) {
    for (auto [c, a, b] :
         llvm::zip(cotangent.getF64(), (*above)[result].getF64(),
                   (*below)[result].getF64()))
      if (a != b)
        sum += c * (a - b);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Difference
//===----------------------------------------------------------------------===//

llvm::Expected<Difference> Difference::create(const WeightedFunction &function,
                                              unsigned argument,
                                              const HostTensor &gradient,
                                              double scale) {
  Difference difference(function, argument, gradient, scale);
  for (HostTensor *stepped : {&difference.plus, &difference.minus}) {
    auto copy = function.getArgument(argument).clone();
    if (!copy)
      return copy.takeError();
    *stepped = *copy;
  }
  return difference;
}

template <typename Callback>
void Difference::forEachComponent(const Direction &direction,
                                  const Callback &callback) const {
  if (direction.isAxis())
    return callback(direction.getElement(), 1.0);
  int64_t size = gradient.size();
  double component = 1 / std::sqrt(double(size));
  Random random(direction.getSeed());
  for (int64_t i = 0; i < size; ++i)
    callback(i, random.next() & 1 ? component : -component);
}

llvm::Expected<double> Difference::getErrorOfStep(const Direction &direction,
                                                  double step) {
  ArrayRef<double> at = function.getArgument(argument).getF64();
  ArrayRef<double> slope = gradient.getF64();
  MutableArrayRef<double> above = plus.getF64(), below = minus.getF64();
  double derivative = 0, terms = 0;
  forEachComponent(direction, [&](int64_t i, double component) {
    if (!std::isfinite(at[i]))
      return;
    above[i] = at[i] + step * component;
    below[i] = at[i] - step * component;
    // The step that was made, after rounding.
    double term = slope[i] * ((above[i] - below[i]) / (2 * step));
    derivative += term;
    terms += term * term;
  });
  auto difference = function.getDifference(argument, plus, minus);
  forEachComponent(direction,
                   [&](int64_t i, double) { above[i] = below[i] = at[i]; });
  if (!difference)
    return difference.takeError();
  double error = std::abs(*difference / (2 * step) - derivative);
  if (error == 0)
    return 0;
  return error / std::max(std::sqrt(terms), scale);
}

SmallVector<double> Difference::getSteps(double magnitude) {
  // Rounding errors grow with 1/h and those of the differences with h^2,
  // relative to the scale on which the function varies: often 1, or the
  // argument.
  SmallVector<double> steps;
  constexpr double factors[] = {1e-5, 1e-6, 1e-4, 1e-7, 1e-3};
  for (double factor : factors)
    steps.push_back(factor * std::max(magnitude, 1.0));
  if (magnitude > 0 && magnitude < 1)
    for (double factor : factors)
      steps.push_back(factor * magnitude);
  return steps;
}

llvm::Expected<double> Difference::getError(const Direction &direction,
                                            double bound) {
  ArrayRef<double> at = function.getArgument(argument).getF64();
  double magnitude = 0;
  forEachComponent(direction, [&](int64_t i, double) {
    if (std::isfinite(at[i]))
      magnitude = std::max(magnitude, std::abs(at[i]));
  });
  double least = INFINITY;
  for (double step : getSteps(magnitude)) {
    auto error = getErrorOfStep(direction, step);
    if (!error)
      return error.takeError();
    // NaN is no agreement.
    if (*error < least)
      least = *error;
    if (least <= bound)
      break;
  }
  return least;
}
