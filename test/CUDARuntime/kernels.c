//===- kernels.c - Effects of kernels in tests ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The driver of the tests calls these for kernels of the same names.

/// y += a x, for as many of the n elements as there are threads.
void axpy(void **parameters, const unsigned grid[3], const unsigned block[3]) {
  const float *x = *(const float **)parameters[0];
  float *y = *(float **)parameters[1];
  float a = *(float *)parameters[2];
  unsigned n = *(unsigned *)parameters[3];
  for (unsigned i = 0; i < grid[0] * block[0] && i < n; ++i)
    y[i] += a * x[i];
}
