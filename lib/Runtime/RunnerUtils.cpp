//===- RunnerUtils.cpp - Functions of MLIR for compiled code --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunnerUtils.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace mlir;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {
/// A side of a copy: where its elements are.
struct Elements {
  char *data;
  /// In bytes.
  llvm::SmallVector<int64_t> strides;

  Elements(const DynamicMemRefType<char> &memRef, int64_t elementSize)
      : data(memRef.data + memRef.offset * elementSize) {
    for (int64_t i = 0; i < memRef.rank; ++i)
      strides.push_back(memRef.strides[i] * elementSize);
  }
};
} // namespace

/// Copies the elements of dimensions `dim` and higher.
static void copyElements(llvm::ArrayRef<int64_t> sizes, unsigned dim,
                         int64_t elementSize, const Elements &source,
                         const Elements &target, int64_t sourceOffset = 0,
                         int64_t targetOffset = 0) {
  bool isScalar = dim == sizes.size();
  bool isRow = dim + 1 == sizes.size() && source.strides[dim] == elementSize &&
               target.strides[dim] == elementSize;
  if (isScalar || isRow) {
    std::memcpy(target.data + targetOffset, source.data + sourceOffset,
                isRow ? sizes[dim] * elementSize : elementSize);
    return;
  }
  for (int64_t i = 0; i < sizes[dim]; ++i)
    copyElements(sizes, dim + 1, elementSize, source, target,
                 sourceOffset + i * source.strides[dim],
                 targetOffset + i * target.strides[dim]);
}

void fad::copyMemRef(int64_t elementSize, ::UnrankedMemRefType<char> *source,
                     ::UnrankedMemRefType<char> *target) {
  DynamicMemRefType<char> from(*source), to(*target);
  llvm::ArrayRef<int64_t> sizes(from.sizes, from.rank);
  if (!llvm::is_contained(sizes, 0))
    copyElements(sizes, /*dim=*/0, elementSize, Elements(from, elementSize),
                 Elements(to, elementSize));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static float truncate(llvm::APFloat value) {
  bool losesInfo;
  value.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return llvm::bit_cast<float>(uint32_t(value.bitcastToAPInt().getZExtValue()));
}

float fad::truncateToBF16(float value) {
  return truncate(llvm::APFloat(value));
}

float fad::truncateToBF16(double value) {
  return truncate(llvm::APFloat(value));
}
