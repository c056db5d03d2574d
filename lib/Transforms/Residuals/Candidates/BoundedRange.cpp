//===- BoundedRange.cpp - Ranges of bounded functions ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the range of a function of one number by evaluating it: at the
// quantiles of a logistic distribution, as inputs of activations are
// distributed, and at growing magnitudes, where it has to approach a limit.
// Where neighboring values differ much, bisection tells a step from a pole.
//
//===----------------------------------------------------------------------===//

#include "BoundedRange.h"
#include "fad/Analysis/ScalarFunction.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

static constexpr unsigned kNumSamples = 16384;

/// The largest difference, as a fraction of the range, of two values that count
/// as one limit.
static constexpr double kLimitTolerance = 1e-3;

std::vector<double> fad::getSampleArguments() {
  std::vector<double> arguments;
  for (unsigned number = 0; number < kNumSamples; ++number) {
    // That a logistic random number is below with this probability.
    double below = (number + 0.5) / kNumSamples;
    arguments.push_back(std::log(below / (1 - below)));
  }
  return arguments;
}

/// Whether `function` stays within `size` between neighboring arguments with
/// rather different values: it does at a step, but not at a pole.
static bool isBoundedBetween(ScalarFunction &function, double low, double high,
                             double size) {
  double atLow = function(low), atHigh = function(high);
  while (true) {
    double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high)
      return true;
    double atMiddle = function(middle);
    if (!(std::abs(atMiddle) <= size))
      return false;
    if (std::abs(atMiddle - atLow) > std::abs(atHigh - atMiddle)) {
      high = middle;
      atHigh = atMiddle;
    } else {
      low = middle;
      atLow = atMiddle;
    }
  }
}

/// Adds to `range` the values at arguments of the sign of `sign` beyond those
/// of the samples, and the limit. False if there is no limit.
static bool addTail(ScalarFunction &function, double sign,
                    BoundedRange &range) {
  for (double x = 4; x < 1e6; x *= 1.01) {
    double value = function(sign * x);
    // A formula may overflow where its value is at its limit.
    if (std::isnan(value))
      break;
    range.lowest = std::min(range.lowest, value);
    range.highest = std::max(range.highest, value);
  }
  double last = std::numeric_limits<double>::quiet_NaN(), beforeLast = last;
  for (double x = 32; x < 1e30; x *= 2) {
    double value = function(sign * x);
    if (std::isnan(value))
      break;
    beforeLast = std::exchange(last, value);
  }
  double tolerance = kLimitTolerance * (range.highest - range.lowest);
  if (!(std::abs(last - beforeLast) <= tolerance))
    return false;
  range.limits.push_back(last);
  return true;
}

std::optional<BoundedRange> fad::findBoundedRange(ScalarFunction &function) {
  BoundedRange range;
  // The samples lie about zero evenly, and would not show a pole there.
  if (!std::isfinite(function(0)))
    return std::nullopt;
  std::vector<double> arguments = getSampleArguments();
  for (double x : arguments) {
    range.samples.push_back(function(x));
    if (!std::isfinite(range.samples.back()))
      return std::nullopt;
  }
  auto [lowest, highest] =
      std::minmax_element(range.samples.begin(), range.samples.end());
  range.lowest = *lowest;
  range.highest = *highest;
  double size = range.highest - range.lowest;
  double largest = 2 * std::max(std::abs(*lowest), std::abs(*highest));
  for (unsigned number = 1; number < kNumSamples; ++number) {
    double step = range.samples[number] - range.samples[number - 1];
    if (std::abs(step) > size / 16 &&
        !isBoundedBetween(function, arguments[number - 1], arguments[number],
                          largest))
      return std::nullopt;
  }
  if (!addTail(function, -1, range) || !addTail(function, 1, range))
    return std::nullopt;
  llvm::sort(range.limits);
  size = range.highest - range.lowest;
  if (range.limits[1] - range.limits[0] <= kLimitTolerance * size)
    range.limits.pop_back();
  llvm::sort(range.samples);
  return range;
}
