//===- HostTensor.h - Tensors in the memory of the host ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_HOSTTENSOR_H
#define FAD_RUNTIME_HOSTTENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlir::fad {

/// Whether a HostTensor can have elements of this type: i1, i8, i16, i32, i64,
/// index, f16, bf16, f32 or f64.
bool isHostElementType(Type type);

/// Bytes of one element.
unsigned getHostElementSize(Type elementType);

/// The tensor type of a value of type `type`, which is a ranked tensor or, for
/// a scalar, its element type. Null if HostTensor has no such type.
RankedTensorType getHostTensorType(Type type);

/// The elements of a ranked tensor in row-major order. A scalar is a tensor of
/// rank 0. Copies share the elements.
class HostTensor {
public:
  HostTensor() = default;

  /// Bytes of a tensor of type `type`, which is static, or nothing if they
  /// exceed 64 bits.
  static std::optional<int64_t> getNumBytes(RankedTensorType type);

  /// Elements of unspecified value for `type`, which is static. Fails without
  /// enough memory.
  static llvm::Expected<HostTensor> create(RankedTensorType type);
  /// `data` for `type`, which is static; `owner` keeps it alive.
  HostTensor(RankedTensorType type, std::shared_ptr<void> owner, void *data)
      : type(type), owner(std::move(owner)), elements(data) {}

  RankedTensorType getType() const { return type; }
  Type getElementType() const { return type.getElementType(); }
  ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t size() const { return type.getNumElements(); }
  int64_t getNumBytes() const {
    return size() * getHostElementSize(getElementType());
  }
  void *data() const { return elements; }
  const std::shared_ptr<void> &getOwner() const { return owner; }

  bool isFloat() const { return isa<FloatType>(getElementType()); }

  /// Element `index` of a tensor of floats.
  double getFloat(int64_t index) const;
  /// Sets element `index` of a tensor of floats, rounding to nearest even.
  void setFloat(int64_t index, double value) const;
  /// The elements of a tensor of f64.
  MutableArrayRef<double> getF64() const {
    assert(getElementType().isF64() && "elements of another type");
    return {static_cast<double *>(elements), static_cast<size_t>(size())};
  }
  /// Element `index` of a tensor of integers; i1 and unsigned integers are
  /// zero-extended.
  int64_t getInteger(int64_t index) const;
  /// Sets element `index` of a tensor of integers.
  void setInteger(int64_t index, int64_t value) const;

  /// A copy with floats of the type `elementType`; integers stay.
  llvm::Expected<HostTensor> convertFloats(FloatType elementType) const;
  llvm::Expected<HostTensor> clone() const;

private:
  RankedTensorType type;
  std::shared_ptr<void> owner;
  void *elements = nullptr;
};

/// Prints a tensor for a reader: its type, then its elements if they are few,
/// else a summary.
raw_ostream &operator<<(raw_ostream &os, const HostTensor &tensor);

} // namespace mlir::fad

#endif // FAD_RUNTIME_HOSTTENSOR_H
