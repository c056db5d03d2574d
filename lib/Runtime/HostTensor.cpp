//===- HostTensor.cpp - Tensors in the memory of the host -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/HostTensor.h"
#include "fad/Analysis/SizeExpr.h"
#include "fad/Runtime/Memory.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::fad;

bool fad::isHostElementType(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
      type.isIndex())
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer &&
         llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
}

unsigned fad::getHostElementSize(Type elementType) {
  if (elementType.isIndex())
    return 8;
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

RankedTensorType fad::getHostTensorType(Type type) {
  if (isHostElementType(type))
    return RankedTensorType::get({}, type);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && !tensor.getEncoding() &&
      isHostElementType(tensor.getElementType()))
    return tensor;
  return nullptr;
}

std::optional<int64_t> HostTensor::getNumBytes(RankedTensorType type) {
  if (hasTooManyElements(type.getShape()))
    return std::nullopt;
  return getHostElementSize(type.getElementType()) * type.getNumElements();
}

llvm::Expected<HostTensor> HostTensor::create(RankedTensorType type) {
  std::optional<int64_t> bytes = getNumBytes(type);
  void *data = bytes ? allocateBuffer(*bytes) : nullptr;
  if (data)
    return HostTensor(type, std::shared_ptr<void>(data, freeBuffer), data);
  std::string message;
  llvm::raw_string_ostream(message) << "there is no memory for a " << type;
  return llvm::createStringError(message);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename T> static T load(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> static void store(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * sizeof(T), &value, sizeof(T));
}

/// The 16 bits of `value` in `semantics`.
static uint16_t roundToHalf(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool losesInfo;
  (void)number.convert(semantics, llvm::APFloat::rmNearestTiesToEven,
                       &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

double HostTensor::getFloat(int64_t index) const {
  Type elementType = getElementType();
  if (elementType.isF64())
    return load<double>(elements, index);
  if (elementType.isF32())
    return load<float>(elements, index);
  uint16_t bits = load<uint16_t>(elements, index);
  // bf16 is the upper half of f32.
  if (elementType.isBF16())
    return llvm::bit_cast<float>(uint32_t(bits) << 16);
  llvm::APFloat half(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
  return half.convertToDouble();
}

void HostTensor::setFloat(int64_t index, double value) const {
  Type elementType = getElementType();
  if (elementType.isF64())
    store<double>(elements, index, value);
  else if (elementType.isF32())
    store<float>(elements, index, value);
  else
    store<uint16_t>(
        elements, index,
        roundToHalf(value, cast<FloatType>(elementType).getFloatSemantics()));
}

// Integers begin with their lowest byte, as on every processor that fad
// compiles for.

int64_t HostTensor::getInteger(int64_t index) const {
  Type elementType = getElementType();
  unsigned size = getHostElementSize(elementType);
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char *>(elements) + index * size, size);
  bool isUnsigned = elementType.isInteger(1) || elementType.isUnsignedInteger();
  return isUnsigned ? bits : llvm::SignExtend64(bits, 8 * size);
}

void HostTensor::setInteger(int64_t index, int64_t value) const {
  unsigned size = getHostElementSize(getElementType());
  std::memcpy(static_cast<char *>(elements) + index * size, &value, size);
}

llvm::Expected<HostTensor> HostTensor::clone() const {
  llvm::Expected<HostTensor> copy = create(type);
  if (copy)
    std::memcpy(copy->data(), elements, getNumBytes());
  return copy;
}

llvm::Expected<HostTensor>
HostTensor::convertFloats(FloatType elementType) const {
  if (!isFloat() || elementType == getElementType())
    return clone();
  llvm::Expected<HostTensor> copy = create(getType().clone(elementType));
  if (copy)
    for (int64_t i = 0, end = size(); i < end; ++i)
      copy->setFloat(i, getFloat(i));
  return copy;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Tensors of up to this many elements are printed in full.
static constexpr int64_t kMaxPrinted = 8;

static void printNumber(raw_ostream &os, const HostTensor &tensor,
                        int64_t index) {
  if (!tensor.isFloat())
    os << tensor.getInteger(index);
  else if (double value = tensor.getFloat(index); std::isnan(value))
    os << "nan"; // The sign of a NaN means nothing.
  else
    os << llvm::format("%.7g", value);
}

/// Prints least and greatest element, mean, and how many are not finite.
static void printSummary(raw_ostream &os, const HostTensor &tensor) {
  double least = INFINITY, greatest = -INFINITY, sum = 0;
  int64_t numFinite = 0, numNaN = 0, size = tensor.size();
  for (int64_t i = 0; i < size; ++i) {
    double value =
        tensor.isFloat() ? tensor.getFloat(i) : double(tensor.getInteger(i));
    numNaN += std::isnan(value);
    if (!std::isfinite(value))
      continue;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
    sum += value;
    ++numFinite;
  }
  if (numFinite)
    os << llvm::format(" min %.4g max %.4g mean %.4g", least, greatest,
                       sum / numFinite);
  if (numNaN)
    os << ", " << numNaN << " NaN";
  if (int64_t numInfinite = size - numFinite - numNaN)
    os << ", " << numInfinite << " infinite";
}

raw_ostream &fad::operator<<(raw_ostream &os, const HostTensor &tensor) {
  os << tensor.getType();
  if (tensor.size() > kMaxPrinted) {
    printSummary(os, tensor);
    return os;
  }
  os << " = ";
  if (tensor.getShape().empty()) {
    printNumber(os, tensor, 0);
    return os;
  }
  os << "[";
  for (int64_t i = 0, end = tensor.size(); i < end; ++i) {
    os << (i ? ", " : "");
    printNumber(os, tensor, i);
  }
  return os << "]";
}
