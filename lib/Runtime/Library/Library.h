//===- Library.h - Libraries of linear algebra ------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_LIBRARY_LIBRARY_H
#define FAD_LIB_RUNTIME_LIBRARY_LIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mlir::fad {

/// Types of elements that libraries compute with.
enum class Element { f32, f64, bf16, f16 };

constexpr int64_t getBytes(Element element) {
  return element == Element::f64 ? 8 : element == Element::f32 ? 4 : 2;
}

/// One dimension of batched products of matrices: its size, and the strides of
/// left factor, right factor and sum, in elements, 0 where they lack it.
struct Extent {
  int64_t size = 1;
  int64_t strides[3] = {0, 0, 0};
};

/// Batched products of matrices. The elements of each factor, and of the sum,
/// are contiguous along one dimension of its matrix.
struct Product {
  Element factor = Element::f32, sum = Element::f32;
  /// Whether the product is added to what is there.
  bool accumulate = false;
  llvm::SmallVector<Extent, 2> batch;
  Extent rows, columns, reduction;
};

/// The operands of a convolution.
enum Role : unsigned { image, filter, result };

/// A convolution, or a gradient of one: which, `output` says. Channels and
/// windows are those of one group.
struct Convolution {
  Element factor = Element::f32, sum = Element::f32;
  Role output = result;
  /// Whether the products are added to what is there.
  bool accumulate = false;
  int64_t groups = 1, batch = 1, inChannels = 1, outChannels = 1;
  /// For each dimension of the window, the sizes of the operands, by role; the
  /// distance of neighboring windows, and of neighboring elements of one; and
  /// the elements before the image that the first window has.
  struct Dim {
    int64_t sizes[3], stride, dilation, padding;
  };
  llvm::SmallVector<Dim, 3> dims;
  /// In elements: of image and result by batch, channel, and dimension of the
  /// window; of the filter by group, channel of the result, channel of the
  /// image, and dimension of the window.
  llvm::SmallVector<int64_t, 6> strides[3];
};

/// Computes `convolution` by oneDNN, on the operands by their roles. Returns
/// false if oneDNN is not there, or has no code for it.
bool convolveByOneDNN(const Convolution &convolution,
                      llvm::ArrayRef<void *> operands);

/// Computes `product` by oneDNN. Returns false if oneDNN is not there, or has
/// no code for it.
bool multiplyByOneDNN(const Product &product, void *left, void *right,
                      void *sum);
/// Likewise by OpenBLAS.
bool multiplyByOpenBLAS(const Product &product, void *left, void *right,
                        void *sum);
/// Computes `product`, of any strides, by the first library that does, or else
/// by loops.
void multiply(const Product &product, void *left, void *right, void *sum);

/// Reads and writes the element at `index` of `data`.
double loadElement(Element element, const void *data, int64_t index);
void storeElement(Element element, void *data, int64_t index, double value);

/// The library `name`, private to its caller, or that which the variable
/// `variable` of the environment names; null if it cannot be loaded.
void *openLibrary(const char *variable, llvm::ArrayRef<const char *> names);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_LIBRARY_LIBRARY_H
