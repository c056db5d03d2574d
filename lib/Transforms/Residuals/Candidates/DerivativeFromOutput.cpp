//===- DerivativeFromOutput.cpp - Derivatives from a result and a bit -----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fits the derivative of an activation with one minimum as a function of the
// activation's result y. On either side of the minimum, y determines the
// argument. There, a polynomial in the square root of the distance of y from
// the minimum interpolates the derivative at Chebyshev points, of the lowest
// even degree that is close enough everywhere.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Candidates/DerivativeFromOutput.h"
#include "BoundedRange.h"
#include "fad/Analysis/ScalarFunction.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

/// The largest error of a polynomial, and its largest degree.
static constexpr double kTolerance = 1e-3;
static constexpr unsigned kLargestDegree = 16;

double DerivativeFromOutput::Side::evaluate(double s) const {
  double u = 2 * std::min(s, largest) / largest - 1;
  double value = 0;
  for (double coefficient : llvm::reverse(coefficients))
    value = value * u + coefficient;
  return value;
}

double DerivativeFromOutput::evaluate(bool isRight, double output) const {
  double s = std::sqrt(std::max(output - minimum, 0.0));
  return (isRight ? right : left).evaluate(s);
}

namespace {
class Fitter {
public:
  Fitter(ScalarFunction &activation, ScalarFunction &derivative)
      : activation(activation), derivative(derivative) {}

  std::optional<DerivativeFromOutput> fit(FloatType type);

private:
  /// Finds the minimum of the activation. False if it has none, or is not
  /// monotone on each side.
  bool findMinimum();
  /// The arguments on one side of the minimum, away from it.
  std::vector<double> getArguments(bool isRight) const;
  std::optional<DerivativeFromOutput::Side> fitSide(bool isRight);
  /// The polynomial that has the derivative's values at Chebyshev points.
  DerivativeFromOutput::Side interpolate(double end, double limit,
                                         unsigned degree);
  /// The argument between `low` and `high` at which the activation is `s` above
  /// its minimum.
  double invert(double s, double low, double high);
  double getDistance(double x) {
    return std::sqrt(std::max(activation(x) - form.minimum, 0.0));
  }
  void measureError(FloatType type);

  ScalarFunction &activation;
  ScalarFunction &derivative;
  DerivativeFromOutput form;
};
} // namespace

/// Arguments from 0 to far beyond the bends of activations, at growing
/// distances; their exponentials are finite.
static std::vector<double> getDistances() {
  std::vector<double> distances;
  for (double x = 0; x < 32; x += 1.0 / 64)
    distances.push_back(x);
  for (double x = 32; x < 600; x *= 1.05)
    distances.push_back(x);
  return distances;
}

bool Fitter::findMinimum() {
  std::vector<double> distances = getDistances(), arguments;
  for (double x : llvm::reverse(distances))
    arguments.push_back(-x);
  arguments.insert(arguments.end(), distances.begin() + 1, distances.end());
  std::vector<double> values;
  for (double x : arguments)
    values.push_back(activation(x));
  if (!llvm::all_of(values, [](double y) { return std::isfinite(y); }))
    return false;
  auto lowest = std::min_element(values.begin(), values.end());
  size_t index = lowest - values.begin();
  if (index == 0 || index + 1 == values.size() || *lowest == values.front() ||
      *lowest == values.back() ||
      !std::is_sorted(values.begin(), lowest + 1, std::greater<double>()) ||
      !std::is_sorted(lowest, values.end()))
    return false;
  // By ternary search, to the precision that values tell apart.
  double low = arguments[index - 1], high = arguments[index + 1];
  while (high - low > 1e-9) {
    double a = low + (high - low) / 3, b = high - (high - low) / 3;
    (activation(a) < activation(b) ? high : low) =
        activation(a) < activation(b) ? b : a;
  }
  form.argument = (low + high) / 2;
  form.minimum = activation(form.argument);
  return true;
}

std::vector<double> Fitter::getArguments(bool isRight) const {
  std::vector<double> arguments = getDistances();
  for (double &x : arguments)
    x = form.argument + (isRight ? x : -x);
  return arguments;
}

double Fitter::invert(double s, double low, double high) {
  // The distance from the minimum grows from `low` on.
  for (unsigned step = 0; step < 60; ++step) {
    double middle = (low + high) / 2;
    (getDistance(middle) < s ? low : high) = middle;
  }
  return (low + high) / 2;
}

DerivativeFromOutput::Side Fitter::interpolate(double end, double limit,
                                               unsigned degree) {
  DerivativeFromOutput::Side side;
  side.largest = getDistance(end);
  // At the ends: the derivative is 0 at the minimum, and at its limit.
  SmallVector<double> values = {limit};
  for (unsigned point = 1; point < degree; ++point) {
    double s = side.largest * (1 + std::cos(M_PI * point / degree)) / 2;
    values.push_back(derivative(invert(s, form.argument, end)));
  }
  values.push_back(derivative(form.argument));
  // From values to Chebyshev coefficients, and from these to powers of u:
  // T(k+1) = 2 u T(k) - T(k-1).
  side.coefficients.assign(degree + 1, 0.0);
  SmallVector<double> last(degree + 1, 0.0), current(degree + 1, 0.0);
  current[0] = 1;
  for (unsigned k = 0; k <= degree; ++k) {
    double sum = 0;
    for (auto [point, value] : llvm::enumerate(values)) {
      double weight = point == 0 || point == degree ? 0.5 : 1;
      sum += weight * value * std::cos(M_PI * k * point / degree);
    }
    double coefficient = (k == 0 || k == degree ? 1.0 : 2.0) * sum / degree;
    for (unsigned power = 0; power <= degree; ++power)
      side.coefficients[power] += coefficient * current[power];
    SmallVector<double> next(degree + 1, 0.0);
    for (unsigned power = 0; power < degree; ++power)
      next[power + 1] = (k == 0 ? 1 : 2) * current[power];
    for (unsigned power = 0; power <= degree && k > 0; ++power)
      next[power] -= last[power];
    last = std::exchange(current, next);
  }
  return side;
}

std::optional<DerivativeFromOutput::Side> Fitter::fitSide(bool isRight) {
  std::vector<double> arguments = getArguments(isRight);
  double limit = derivative(arguments.back());
  if (!std::isfinite(limit))
    return std::nullopt;
  // Whether the derivative stays close to its limit from `x` on.
  auto isFar = [&](double x) {
    return !(std::abs(derivative(x) - limit) <= kTolerance / 4);
  };
  size_t end = arguments.size();
  while (end > 0 && !isFar(arguments[end - 1]))
    --end;
  if (end == 0 || end == arguments.size())
    return std::nullopt;
  for (unsigned degree = 4; degree <= kLargestDegree; degree += 2) {
    DerivativeFromOutput::Side side =
        interpolate(arguments[end], limit, degree);
    if (llvm::all_of(arguments, [&](double x) {
          double error = side.evaluate(getDistance(x)) - derivative(x);
          return std::abs(error) <= kTolerance;
        }))
      return side;
  }
  return std::nullopt;
}

void Fitter::measureError(FloatType type) {
  auto getError = [&](double x) {
    x = roundTo(type, x);
    double output = activation.getRounded(x);
    return form.evaluate(x > form.argument, output) - derivative(x);
  };
  form.error = {0, 0};
  for (bool isRight : {false, true})
    for (double x : getArguments(isRight))
      form.error.largest = std::max(form.error.largest, std::abs(getError(x)));
  std::vector<double> arguments = getSampleArguments();
  for (double x : arguments) {
    double error = getError(x);
    form.error.largest = std::max(form.error.largest, std::abs(error));
    form.error.meanSquare += error * error / arguments.size();
  }
}

std::optional<DerivativeFromOutput> Fitter::fit(FloatType type) {
  if (!findMinimum())
    return std::nullopt;
  for (bool isRight : {false, true}) {
    std::optional<DerivativeFromOutput::Side> side = fitSide(isRight);
    if (!side)
      return std::nullopt;
    (isRight ? form.right : form.left) = std::move(*side);
  }
  measureError(type);
  return form;
}

std::optional<DerivativeFromOutput>
fad::findDerivativeFromOutput(ScalarFunction &activation,
                              ScalarFunction &derivative, FloatType type) {
  return Fitter(activation, derivative).fit(type);
}
