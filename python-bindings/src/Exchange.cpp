//===- Exchange.cpp - Arrays from and to other packages, by DLPack --------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// numpy's own import and export by DLPack know no bf16, and its export refuses
// arrays that are read-only.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "nanobind/ndarray.h"
#include "nanobind/stl/pair.h"
#include "llvm/ADT/SmallVector.h"

namespace nb = nanobind;
using Code = nb::dlpack::dtype_code;
using HostArray = nb::ndarray<nb::ro, nb::device::cpu>;

static const nb::dlpack::dtype bits16 = {static_cast<uint8_t>(Code::UInt), 16,
                                         1};
static const nb::dlpack::dtype bfloat16 = {static_cast<uint8_t>(Code::Bfloat),
                                           16, 1};

/// Whether numpy has elements of this type.
static bool isNumpyType(nb::dlpack::dtype type) {
  bool isKnown = type.code == static_cast<uint8_t>(Code::Int) ||
                 type.code == static_cast<uint8_t>(Code::UInt) ||
                 type.code == static_cast<uint8_t>(Code::Float) ||
                 type.code == static_cast<uint8_t>(Code::Complex) ||
                 type.code == static_cast<uint8_t>(Code::Bool);
  return isKnown && type.bits >= 8 && type.bits <= 128 && type.lanes == 1;
}

/// The elements of `array` as an array of another framework, with the element
/// type `type`. It keeps `array` alive.
template <typename Made>
static nb::object share(const HostArray &array, nb::dlpack::dtype type) {
  nb::capsule owner(new HostArray(array), [](void *kept) noexcept {
    delete static_cast<HostArray *>(kept);
  });
  llvm::SmallVector<size_t> shape;
  llvm::SmallVector<int64_t> strides;
  for (size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(array.shape(i));
    strides.push_back(array.stride(i));
  }
  return nb::cast(Made(const_cast<void *>(array.data()), shape.size(),
                       shape.data(), owner, strides.data(), type));
}

/// The array in the DLPack capsule, for numpy, and whether its elements are the
/// bits of bf16.
static std::pair<nb::object, bool> importArray(const HostArray &array) {
  bool isBFloat16 = array.dtype() == bfloat16;
  if (!isBFloat16 && !isNumpyType(array.dtype()))
    throw nb::type_error("its elements are of a type that numpy does not have");
  return {share<nb::ndarray<nb::numpy, nb::ro>>(
              array, isBFloat16 ? bits16 : array.dtype()),
          isBFloat16};
}

/// An object with `__dlpack__` for an array of numpy, whose elements are the
/// bits of bf16 if `isBFloat16` is set.
static nb::object exportArray(const HostArray &array, bool isBFloat16,
                              bool isWritable) {
  nb::dlpack::dtype type = isBFloat16 ? bfloat16 : array.dtype();
  return isWritable ? share<nb::ndarray<nb::array_api>>(array, type)
                    : share<nb::ndarray<nb::array_api, nb::ro>>(array, type);
}

void mlir::fad::python::bindExchange(nb::module_ &module) {
  module.def("import_array", &importArray, nb::arg("capsule"));
  module.def("export_array", &exportArray, nb::arg("array"),
             nb::arg("is_bfloat16"), nb::arg("is_writable"));
}
