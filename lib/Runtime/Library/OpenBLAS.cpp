//===- OpenBLAS.cpp - Products of matrices by OpenBLAS --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <dlfcn.h>
#include <limits>

using namespace mlir::fad;

namespace {
/// OpenBLAS's functions. Where it is built for 64-bit integers, its library has
/// another name.
struct OpenBLAS {
  void (*multiplyF32)(int order, int transA, int transB, int m, int n, int k,
                      float alpha, const void *a, int lda, const void *b,
                      int ldb, float beta, void *c, int ldc) = nullptr;
  void (*multiplyF64)(int order, int transA, int transB, int m, int n, int k,
                      double alpha, const void *a, int lda, const void *b,
                      int ldb, double beta, void *c, int ldc) = nullptr;

  OpenBLAS() {
    void *library = openLibrary("FAD_OPENBLAS_LIBRARY", {"libopenblas.so.0"});
    if (!library)
      return;
    multiplyF32 =
        reinterpret_cast<decltype(multiplyF32)>(dlsym(library, "cblas_sgemm"));
    multiplyF64 =
        reinterpret_cast<decltype(multiplyF64)>(dlsym(library, "cblas_dgemm"));
  }
  static const OpenBLAS &get() {
    static const OpenBLAS library;
    return library;
  }
};

/// A matrix as BLAS takes it: by rows, or transposed.
struct Matrix {
  bool transposed;
  int64_t leading;

  Matrix(const Extent &rows, const Extent &columns, unsigned operand)
      : transposed(columns.strides[operand] != 1),
        leading(transposed ? columns.strides[operand] : rows.strides[operand]) {
    leading =
        std::max<int64_t>({leading, transposed ? rows.size : columns.size, 1});
  }
};
} // namespace

/// Whether OpenBLAS is there.
static bool hasOpenBLAS() {
  return OpenBLAS::get().multiplyF32 && OpenBLAS::get().multiplyF64;
}

/// Multiplies the matrices of one index of the batch.
static void multiplyMatrices(const Product &product, const char *left,
                             const char *right, char *sum) {
  constexpr int rowMajor = 101, plain = 111, transposed = 112;
  Matrix a(product.rows, product.reduction, 0);
  Matrix b(product.reduction, product.columns, 1);
  Matrix c(product.rows, product.columns, 2);
  auto call = [&](auto function, auto one) {
    function(rowMajor, a.transposed ? transposed : plain,
             b.transposed ? transposed : plain, product.rows.size,
             product.columns.size, product.reduction.size, one, left, a.leading,
             right, b.leading, product.accumulate * one, sum, c.leading);
  };
  if (product.factor == Element::f32)
    call(OpenBLAS::get().multiplyF32, 1.0f);
  else
    call(OpenBLAS::get().multiplyF64, 1.0);
}

static void multiplyBatch(const Product &product, unsigned dim,
                          const char *left, const char *right, char *sum) {
  if (dim == product.batch.size())
    return multiplyMatrices(product, left, right, sum);
  const Extent &extent = product.batch[dim];
  int64_t bytes = getBytes(product.factor);
  for (int64_t i = 0; i < extent.size; ++i)
    multiplyBatch(product, dim + 1, left + i * extent.strides[0] * bytes,
                  right + i * extent.strides[1] * bytes,
                  sum + i * extent.strides[2] * bytes);
}

bool mlir::fad::multiplyByOpenBLAS(const Product &product, void *left,
                                   void *right, void *sum) {
  bool hasType =
      product.factor == product.sum &&
      (product.factor == Element::f32 || product.factor == Element::f64);
  // It takes 32-bit sizes and strides.
  constexpr int64_t most = std::numeric_limits<int>::max();
  auto fits = [&](const Extent &extent) {
    return extent.size <= most &&
           llvm::all_of(extent.strides,
                        [&](int64_t stride) { return stride <= most; });
  };
  // The sum is by rows.
  if (!hasType || !hasOpenBLAS() || !fits(product.rows) ||
      !fits(product.columns) || !fits(product.reduction) ||
      product.columns.strides[2] != 1)
    return false;
  multiplyBatch(product, 0, static_cast<const char *>(left),
                static_cast<const char *>(right), static_cast<char *>(sum));
  return true;
}
