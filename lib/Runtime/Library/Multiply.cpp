//===- Multiply.cpp - Products of matrices of any strides -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <optional>

using namespace mlir::fad;

void *mlir::fad::openLibrary(const char *variable,
                             llvm::ArrayRef<const char *> names) {
  // Private, because PyTorch has another version of the same functions.
  constexpr int mode = RTLD_LAZY | RTLD_LOCAL;
  if (const char *path = std::getenv(variable))
    return *path ? dlopen(path, mode) : nullptr;
  for (const char *name : names)
    if (void *library = dlopen(name, mode))
      return library;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics &getSemantics(Element element) {
  return element == Element::bf16 ? llvm::APFloat::BFloat()
                                  : llvm::APFloat::IEEEhalf();
}

double mlir::fad::loadElement(Element element, const void *data,
                              int64_t index) {
  if (element == Element::f32)
    return static_cast<const float *>(data)[index];
  if (element == Element::f64)
    return static_cast<const double *>(data)[index];
  llvm::APInt bits(16, static_cast<const uint16_t *>(data)[index]);
  return llvm::APFloat(getSemantics(element), bits).convertToDouble();
}

void mlir::fad::storeElement(Element element, void *data, int64_t index,
                             double value) {
  if (element == Element::f32) {
    static_cast<float *>(data)[index] = value;
  } else if (element == Element::f64) {
    static_cast<double *>(data)[index] = value;
  } else {
    llvm::APFloat rounded(value);
    bool losesInfo;
    rounded.convert(getSemantics(element), llvm::APFloat::rmNearestTiesToEven,
                    &losesInfo);
    static_cast<uint16_t *>(data)[index] =
        rounded.bitcastToAPInt().getZExtValue();
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Calls `body` with the offsets of the operands at all indices of `extents`.
template <typename Body>
static void forEach(llvm::ArrayRef<Extent> extents, Body body,
                    std::array<int64_t, 3> offsets = {0, 0, 0}) {
  if (extents.empty())
    return body(offsets);
  for (int64_t i = 0; i < extents.front().size; ++i) {
    forEach(extents.drop_front(), body, offsets);
    for (unsigned operand = 0; operand < 3; ++operand)
      offsets[operand] += extents.front().strides[operand];
  }
}

/// Computes `product`, of any strides, by loops.
static void multiplyByLoops(const Product &product, void *left, void *right,
                            void *sum) {
  llvm::SmallVector<Extent, 2> extents(product.batch);
  extents.push_back(product.rows);
  extents.push_back(product.columns);
  const Extent &reduction = product.reduction;
  forEach(extents, [&](std::array<int64_t, 3> at) {
    double total =
        product.accumulate ? loadElement(product.sum, sum, at[2]) : 0;
    for (int64_t i = 0; i < reduction.size; ++i)
      total +=
          loadElement(product.factor, left, at[0] + i * reduction.strides[0]) *
          loadElement(product.factor, right, at[1] + i * reduction.strides[1]);
    storeElement(product.sum, sum, at[2], total);
  });
}

//===----------------------------------------------------------------------===//
// Any strides
//===----------------------------------------------------------------------===//

/// Gives dimensions of size 1 the stride that they had in a matrix without
/// gaps. Returns whether a library takes the matrix: one stride is 1, and the
/// other is not less than the size of that dimension.
static bool normalize(Extent &first, Extent &second, unsigned operand) {
  int64_t &a = first.strides[operand], &b = second.strides[operand];
  if (first.size == 1 && second.size == 1)
    a = b = 1;
  else if (first.size == 1)
    a = b == 1 ? second.size : 1;
  else if (second.size == 1)
    b = a == 1 ? first.size : 1;
  return (b == 1 && a >= second.size) || (a == 1 && b >= first.size);
}

namespace {
/// A copy of an operand without gaps.
class Packed {
public:
  Packed(Element element, void *data, llvm::ArrayRef<Extent *> extents,
         unsigned operand)
      : element(element), original(data) {
    int64_t count = 1;
    for (Extent *extent : llvm::reverse(extents)) {
      // The copy has its strides in the place of those of the second operand.
      Extent pair;
      pair.size = extent->size;
      pair.strides[0] = extent->strides[operand];
      pair.strides[1] = extent->strides[operand] = count;
      dims.insert(dims.begin(), pair);
      count *= extent->size;
    }
    copy.reset(std::malloc(std::max<int64_t>(count * getBytes(element), 1)));
  }
  /// The elements; null if there is no memory for them.
  void *get() const { return copy.get(); }
  void read() { move(original, 0, copy.get(), 1); }
  void write() { move(copy.get(), 1, original, 0); }

private:
  void move(void *from, unsigned source, void *to, unsigned target) {
    int64_t bytes = getBytes(element);
    forEach(dims, [&](std::array<int64_t, 3> at) {
      std::memcpy(static_cast<char *>(to) + at[target] * bytes,
                  static_cast<char *>(from) + at[source] * bytes, bytes);
    });
  }

  struct Free {
    void operator()(void *block) const { std::free(block); }
  };
  Element element;
  void *original;
  std::unique_ptr<void, Free> copy;
  llvm::SmallVector<Extent> dims;
};
} // namespace

/// `product` with left and right exchanged, and rows and columns: the
/// transposed product.
static void transpose(Product &product, void *&left, void *&right) {
  std::swap(product.rows, product.columns);
  std::swap(left, right);
  auto exchange = [](Extent &extent) {
    std::swap(extent.strides[0], extent.strides[1]);
  };
  llvm::for_each(product.batch, exchange);
  exchange(product.rows);
  exchange(product.columns);
  exchange(product.reduction);
}

void mlir::fad::multiply(const Product &given, void *givenLeft,
                         void *givenRight, void *givenSum) {
  Product product = given;
  void *left = givenLeft, *right = givenRight, *sum = givenSum;
  auto pack = [&](unsigned operand, Extent &first, Extent &second,
                  void *&data) -> std::optional<Packed> {
    if (normalize(first, second, operand))
      return std::nullopt;
    llvm::SmallVector<Extent *> extents;
    for (Extent &extent : product.batch)
      extents.push_back(&extent);
    extents.append({&first, &second});
    std::optional<Packed> packed(std::in_place,
                                 operand == 2 ? product.sum : product.factor,
                                 data, extents, operand);
    data = packed->get();
    return packed;
  };
  std::optional<Packed> packedSum = pack(2, product.rows, product.columns, sum);
  if (product.columns.strides[2] != 1)
    transpose(product, left, right);
  std::optional<Packed> packedLeft =
      pack(0, product.rows, product.reduction, left);
  std::optional<Packed> packedRight =
      pack(1, product.reduction, product.columns, right);
  // Loops take any strides, and no memory.
  if (!left || !right || !sum)
    return multiplyByLoops(given, givenLeft, givenRight, givenSum);
  for (std::optional<Packed> *packed : {&packedLeft, &packedRight, &packedSum})
    if (*packed && (packed != &packedSum || product.accumulate))
      (*packed)->read();
  if (!multiplyByOneDNN(product, left, right, sum) &&
      !multiplyByOpenBLAS(product, left, right, sum))
    multiplyByLoops(product, left, right, sum);
  if (packedSum)
    packedSum->write();
}
