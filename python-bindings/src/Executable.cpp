//===- Executable.cpp - Compiled functions on numpy arrays ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Module.h"
#include "fad/Runtime/CompiledModule.h"
#include "nanobind/ndarray.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::python;

using InputArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

namespace {
/// The public functions of a module, compiled.
class Executable {
public:
  static Executable compile(python::Module &module);

  /// Calls `function` with arrays that hold the elements of its arguments, in
  /// order; their types count only by size.
  nb::list call(const std::string &function,
                const std::vector<InputArray> &arrays);

private:
  Executable(std::shared_ptr<Context> context, CompiledModule compiled)
      : context(std::move(context)), compiled(std::move(compiled)) {}

  std::shared_ptr<Context> context;
  CompiledModule compiled;
  llvm::StringMap<SmallVector<RankedTensorType>> argumentTypes;
};
} // namespace

Executable Executable::compile(python::Module &module) {
  llvm::StringMap<SmallVector<RankedTensorType>> argumentTypes;
  auto compiled = module.run([&](ModuleOp op) -> FailureOr<CompiledModule> {
    for (auto function : op.getOps<func::FuncOp>())
      argumentTypes[function.getSymName()] =
          llvm::map_to_vector(function.getArgumentTypes(), getHostTensorType);
    OwningOpRef<ModuleOp> copy = op.clone();
    return CompiledModule::compile(*copy);
  });
  Executable executable(module.getContext(), std::move(compiled));
  executable.argumentTypes = std::move(argumentTypes);
  return executable;
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

/// `array` as a tensor of type `type`, which may be dynamic. It stays alive as
/// long as the tensor.
static HostTensor makeTensor(const InputArray &array, RankedTensorType type) {
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < array.ndim(); ++i)
    shape.push_back(array.shape(i));
  if (failed(verifyCompatibleShape(shape, type.getShape())) ||
      array.itemsize() != getHostElementSize(type.getElementType()))
    throw nb::value_error("an array does not have the type of its argument");
  void *data = const_cast<void *>(array.data());
  auto *kept = new InputArray(array);
  std::shared_ptr<void> owner(data, [kept](void *) {
    nb::gil_scoped_acquire acquire;
    delete kept;
  });
  return HostTensor(type.clone(shape), std::move(owner), data);
}

/// The type that nanobind has for elements of type `type`, or, for bf16, for
/// their bits.
static nb::dlpack::dtype getDtype(Type type) {
  using Code = nb::dlpack::dtype_code;
  Code code = Code::Int;
  if (type.isInteger(1))
    code = Code::Bool;
  else if (type.isBF16() || type.isUnsignedInteger())
    code = Code::UInt;
  else if (isa<FloatType>(type))
    code = Code::Float;
  return {static_cast<uint8_t>(code),
          static_cast<uint8_t>(8 * getHostElementSize(type)), 1};
}

template <typename Array>
static nb::object makeArray(const HostTensor &tensor) {
  nb::capsule owner(new HostTensor(tensor), [](void *kept) noexcept {
    delete static_cast<HostTensor *>(kept);
  });
  SmallVector<size_t> shape(tensor.getShape());
  return nb::cast(Array(tensor.data(), shape.size(), shape.data(), owner,
                        /*strides=*/nullptr,
                        getDtype(tensor.getElementType())));
}

/// Arrays of `results`. One that shares its elements with another array is
/// read-only.
static nb::list makeArrays(ArrayRef<HostTensor> arguments,
                           ArrayRef<HostTensor> results) {
  DenseMap<void *, unsigned> numArrays;
  for (ArrayRef<HostTensor> tensors : {arguments, results})
    for (const HostTensor &tensor : tensors)
      ++numArrays[tensor.getOwner().get()];
  nb::list list;
  for (const HostTensor &result : results)
    list.append(numArrays[result.getOwner().get()] > 1
                    ? makeArray<nb::ndarray<nb::numpy, nb::ro>>(result)
                    : makeArray<nb::ndarray<nb::numpy>>(result));
  return list;
}

nb::list Executable::call(const std::string &function,
                          const std::vector<InputArray> &arrays) {
  auto types = argumentTypes.find(function);
  if (types == argumentTypes.end() || types->second.size() != arrays.size())
    throw nb::value_error("the arrays do not suit the function");
  SmallVector<HostTensor> arguments;
  for (auto [array, type] : llvm::zip(arrays, types->second))
    arguments.push_back(makeTensor(array, type));
  SmallVector<HostTensor> results;
  std::string message;
  {
    nb::gil_scoped_release release;
    auto called = compiled.call(function, arguments);
    if (called)
      results = std::move(*called);
    else
      message = llvm::toString(called.takeError());
  }
  if (!message.empty())
    throw DiagnosticError{{DiagnosticText("error", message)}};
  return makeArrays(arguments, results);
}

void mlir::fad::python::bindExecutable(nb::module_ &module) {
  nb::class_<Executable>(module, "Executable")
      .def("call", &Executable::call, nb::arg("function"), nb::arg("arrays"));
  module.def("compile", &Executable::compile, nb::arg("module"));
}
