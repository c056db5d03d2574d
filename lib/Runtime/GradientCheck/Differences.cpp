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

Direction fad::makeAxis(int64_t size, int64_t element) {
  Direction direction(size);
  direction[element] = 1;
  return direction;
}

Direction fad::makeSigns(int64_t size, uint64_t seed) {
  double component = 1 / std::sqrt(double(size));
  Random random(seed);
  Direction direction(size);
  for (double &each : direction)
    each = random.next() & 1 ? component : -component;
  return direction;
}

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

/// The steps to try for arguments of magnitude `magnitude`.
static SmallVector<double> getSteps(double magnitude) {
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

llvm::Expected<double> WeightedFunction::getSlope(unsigned argument,
                                                  int64_t element) const {
  auto plus = arguments[argument].clone();
  if (!plus)
    return plus.takeError();
  auto minus = arguments[argument].clone();
  if (!minus)
    return minus.takeError();
  double at = arguments[argument].getF64()[element];
  double step = getSteps(std::abs(at)).front();
  plus->getF64()[element] = at + step;
  minus->getF64()[element] = at - step;
  auto difference = getDifference(argument, *plus, *minus);
  if (!difference)
    return difference.takeError();
  return *difference / (2 * step);
}

llvm::Expected<double> WeightedFunction::getError(unsigned argument,
                                                  const HostTensor &gradient,
                                                  double scale,
                                                  const Direction &direction,
                                                  double bound) const {
  // The argument, stepped to either side.
  auto plus = arguments[argument].clone();
  if (!plus)
    return plus.takeError();
  auto minus = arguments[argument].clone();
  if (!minus)
    return minus.takeError();
  ArrayRef<double> at = arguments[argument].getF64();
  ArrayRef<double> slope = gradient.getF64();
  MutableArrayRef<double> above = plus->getF64(), below = minus->getF64();
  SmallVector<size_t> changed;
  double magnitude = 0;
  for (auto [i, value] : llvm::enumerate(at))
    if (direction[i] != 0 && std::isfinite(value)) {
      changed.push_back(i);
      magnitude = std::max(magnitude, std::abs(value));
    }
  double least = NAN;
  for (double step : getSteps(magnitude)) {
    double derivative = 0, terms = 0;
    for (size_t i : changed) {
      above[i] = at[i] + step * direction[i];
      below[i] = at[i] - step * direction[i];
      // The step that was made, after rounding.
      double term = slope[i] * ((above[i] - below[i]) / (2 * step));
      derivative += term;
      terms += term * term;
    }
    auto difference = getDifference(argument, *plus, *minus);
    if (!difference)
      return difference.takeError();
    double error = std::abs(*difference / (2 * step) - derivative);
    if (error != 0)
      error /= std::max(std::sqrt(terms), scale);
    // NaN is no agreement.
    least = std::fmin(error, least);
    if (least <= bound)
      break;
  }
  return least;
}
