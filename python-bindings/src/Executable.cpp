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
#include "fad/Runtime/Memory.h"
#include "fad/Runtime/Preconditions.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
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
  /// Compiles `module`. With `check`, calls check what functions ask of their
  /// arguments.
  static Executable compile(python::Module &module, bool check,
                            const std::string &contractions);

  std::vector<std::string> getFunctions() const;

  /// Calls `function` with arrays that hold the elements of its arguments, in
  /// order; their types count only by size. Loops run in `threads` threads, if
  /// that is not 0 (`SharedProcessors`).
  nb::list call(const std::string &function,
                const std::vector<InputArray> &arrays, int threads);

private:
  struct Function {
    SmallVector<RankedTensorType> argumentTypes;
    Preconditions preconditions;
    /// The function that loads the globals that the preconditions depend on.
    std::string loadGlobals;
  };
  static FailureOr<llvm::StringMap<Function>> prepare(ModuleOp module,
                                                      bool check);

  Executable(std::shared_ptr<Context> context, CompiledModule compiled)
      : context(std::move(context)), compiled(std::move(compiled)) {}

  void check(const Function &function, ArrayRef<HostTensor> arguments) const;
  SmallVector<HostTensor> callCompiled(const std::string &name,
                                       ArrayRef<HostTensor> arguments) const;

  // Types and locations are of this context.
  std::shared_ptr<Context> context;
  CompiledModule compiled;
  llvm::StringMap<Function> functions;
  /// Where functions have state in common, held by the one that runs.
  std::unique_ptr<std::mutex> state;
};
} // namespace

FailureOr<llvm::StringMap<Executable::Function>>
Executable::prepare(ModuleOp module, bool check) {
  llvm::StringMap<Function> functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (failed(checkSignature(function)))
      return failure();
    Function &prepared = functions[function.getSymName()];
    prepared.argumentTypes =
        llvm::map_to_vector(function.getArgumentTypes(), getHostTensorType);
    if (!check)
      continue;
    auto extracted = extractFunction(function);
    if (failed(extracted))
      return failure();
    auto preconditions = Preconditions::compile(**extracted);
    if (failed(preconditions))
      return failure();
    prepared.preconditions = std::move(*preconditions);
  }
  return functions;
}

/// The option of this name, which Python has checked.
static Contractions getContractions(const std::string &name) {
  return llvm::StringSwitch<Contractions>(name)
      .Case("library", Contractions::library)
      .Case("loops", Contractions::loops)
      .Default(Contractions::automatic);
}

Executable Executable::compile(python::Module &module, bool check,
                               const std::string &contractions) {
  CompileOptions options;
  options.contractions = getContractions(contractions);
  llvm::StringMap<Function> functions;
  bool hasState = false;
  auto compiled = module.run([&](ModuleOp op) -> FailureOr<CompiledModule> {
    auto prepared = prepare(op, check);
    if (failed(prepared))
      return failure();
    functions = std::move(*prepared);
    hasState = !op.getOps<ml_program::GlobalOp>().empty();
    OwningOpRef<ModuleOp> copy = op.clone();
    // Loops that run on several threads cannot report which one fails.
    eraseAssertions(*copy);
    for (Function &function : llvm::make_second_range(functions))
      if (auto globals = function.preconditions.getGlobals(); !globals.empty())
        function.loadGlobals = addLoadOfGlobals(*copy, globals);
    return CompiledModule::compile(*copy, options);
  });
  Executable executable(module.getContext(), std::move(compiled));
  executable.functions = std::move(functions);
  if (hasState)
    executable.state = std::make_unique<std::mutex>();
  return executable;
}

std::vector<std::string> Executable::getFunctions() const {
  std::vector<std::string> names;
  for (StringRef name : functions.keys())
    names.push_back(name.str());
  llvm::sort(names);
  return names;
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

void Executable::check(const Function &function,
                       ArrayRef<HostTensor> arguments) const {
  SmallVector<HostTensor> globals;
  if (!function.loadGlobals.empty())
    globals = callCompiled(function.loadGlobals, {});
  if (auto violated = function.preconditions.findViolated(arguments, globals))
    throw DiagnosticError{
        {DiagnosticText("error", violated->message, violated->loc)}};
}

SmallVector<HostTensor>
Executable::callCompiled(const std::string &name,
                         ArrayRef<HostTensor> arguments) const {
  auto results = compiled.call(name, arguments);
  if (!results)
    throw DiagnosticError{
        {DiagnosticText("error", llvm::toString(results.takeError()))}};
  return std::move(*results);
}

nb::list Executable::call(const std::string &name,
                          const std::vector<InputArray> &arrays, int threads) {
  auto found = functions.find(name);
  if (found == functions.end() ||
      found->second.argumentTypes.size() != arrays.size())
    throw nb::value_error("the arrays do not suit the function");
  const Function &function = found->second;
  SmallVector<HostTensor> arguments;
  for (auto [array, type] : llvm::zip_equal(arrays, function.argumentTypes))
    arguments.push_back(makeTensor(array, type));
  SmallVector<HostTensor> results;
  {
    GilRelease release;
    std::unique_lock<std::mutex> lock;
    if (state)
      lock = std::unique_lock<std::mutex>(*state);
    std::optional<SharedProcessors> shared;
    if (threads)
      shared.emplace(threads);
    check(function, arguments);
    results = callCompiled(name, arguments);
  }
  return makeArrays(arguments, results);
}

void mlir::fad::python::bindExecutable(nb::module_ &module) {
  nb::class_<Executable>(module, "Executable")
      .def("functions", &Executable::getFunctions)
      .def("call", &Executable::call, nb::arg("function"), nb::arg("arrays"),
           nb::arg("threads") = 0);
  module.def("compile", &Executable::compile, nb::arg("module"),
             nb::arg("check"), nb::arg("contractions"));
  module.def("release_memory", [] {
    size_t bytes = getFreeBufferBytes();
    releaseFreeBuffers();
    return bytes;
  });
}
