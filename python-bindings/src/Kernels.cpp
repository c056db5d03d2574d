//===- Kernels.cpp - Kernels for who launches them himself ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Module.h"
#include "fad/Codegen/CUDAToolkit.h"
#include "fad/IR/Fad.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Runtime/CUDATarget.h"
#include "fad/Runtime/CompileCache.h"
#include "fad/Runtime/CompiledModule.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_sha1_ostream.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::python;

/// The key under which a cache has the kernels of `module`; empty if they
/// depend on more than what is known here.
static std::string getCacheKey(ModuleOp module, StringRef chip) {
  const std::string &build = describeBuild();
  // Functions of libdevice are those of the toolkit.
  static const std::string &toolkit =
      *new std::string(findCUDAToolkit().value_or(""));
  if (build.empty())
    return {};
  llvm::raw_sha1_ostream key;
  key << "kernels\n" << build << toolkit << "\n" << chip << "\n";
  if (failed(writeBytecodeToFile(module, key)))
    return {};
  return llvm::toHex(key.sha1(), /*LowerCase=*/true);
}

/// A copy of a module after `fad-to-nvvm`, with PTX for a chip: from the cache
/// of compiled code, or compiled.
static Module compileKernels(Module &module, const std::string &chip) {
  using Made = OwningOpRef<ModuleOp>;
  Made made = module.run([&](ModuleOp op) -> FailureOr<Made> {
    auto cache = CompileCache::get(
        [&](const Twine &message) { emitWarning(op.getLoc()) << message; });
    std::string key = cache ? getCacheKey(op, chip) : "";
    if (auto found = key.empty() ? nullptr : cache->load(key))
      if (Made parsed = parseSourceString<ModuleOp>(
              found->getBuffer(), ParserConfig(op.getContext())))
        return parsed;
    ToNVVMOptions options;
    options.chip = chip;
    PassManager pm(op.getContext());
    buildToNVVMPipeline(pm, options);
    Made copy = op.clone();
    if (failed(pm.run(*copy)))
      return failure();
    std::string content;
    llvm::raw_string_ostream os(content);
    if (!key.empty() && succeeded(writeBytecodeToFile(*copy, os)))
      cache->store(key, content);
    return copy;
  });
  return Module(module.getContext(), std::move(made));
}

namespace {
/// The only kernel of a function, of those that `fad-to-gpu` describes.
struct Kernel {
  std::string name;
  int64_t threads, tile;
  /// Arguments of the kernel before the number of elements: the number of an
  /// argument of the function, or -1 less that of a result.
  std::vector<int64_t> parameters;
};
} // namespace

/// The kernel that computes all results of a function from its arguments.
/// Results that are arguments take none.
static FailureOr<Kernel> describeKernel(func::FuncOp function) {
  auto fail = [&]() -> InFlightDiagnostic {
    return function.emitError("@")
           << function.getSymName() << " is not one elementwise kernel";
  };
  if (!function.getBody().hasOneBlock())
    return fail();
  Block &body = function.getBody().front();
  auto ops = body.without_terminator();
  auto op = ops.empty() ? nullptr : dyn_cast<ElementwiseOp>(*ops.begin());
  if (!op || !llvm::hasSingleElement(ops))
    return fail();
  auto name = op->getAttrOfType<SymbolRefAttr>(FadDialect::kKernelAttr);
  auto threads = op->getAttrOfType<IntegerAttr>(FadDialect::kBlockSizeAttr);
  auto tile = op->getAttrOfType<IntegerAttr>(FadDialect::kTileSizeAttr);
  if (!name || !threads || !tile)
    return fail() << ": run fad-to-nvvm first";
  Kernel kernel = {
      name.getLeafReference().str(), threads.getInt(), tile.getInt(), {}};
  for (Value operand : op->getOperands())
    kernel.parameters.push_back(cast<BlockArgument>(operand).getArgNumber());
  auto returned = body.getTerminator()->getOperands();
  for (Value result : op->getResults()) {
    auto found = llvm::find(returned, result);
    if (found == returned.end())
      return fail() << ", all of whose results are returned";
    kernel.parameters.push_back(-1 - std::distance(returned.begin(), found));
  }
  return kernel;
}

static nb::tuple getKernel(Module &module, const std::string &function) {
  Kernel kernel = module.run([&](ModuleOp op) -> FailureOr<Kernel> {
    auto found = op.lookupSymbol<func::FuncOp>(function);
    if (!found)
      return emitError(op.getLoc()) << "there is no function @" << function;
    return describeKernel(found);
  });
  return nb::make_tuple(kernel.name, kernel.threads, kernel.tile,
                        kernel.parameters);
}

/// The image that a driver loads: the PTX or the machine code of all kernels.
static nb::bytes getImage(Module &module) {
  StringRef image = module.run([&](ModuleOp op) -> FailureOr<StringRef> {
    auto binaries = op.getOps<gpu::BinaryOp>();
    if (binaries.empty() || (*binaries.begin()).getObjects().size() != 1)
      return emitError(op.getLoc())
             << "there is no gpu.binary of one object: run fad-to-nvvm first";
    auto object = cast<gpu::ObjectAttr>((*binaries.begin()).getObjects()[0]);
    return object.getObject().getValue();
  });
  return nb::bytes(image.data(), image.size());
}

namespace {
/// Functions of a module, compiled for this machine's processor.
class HostKernels {
public:
  static HostKernels compile(Module &module) {
    CompileOptions options;
    // Who calls them has threads and memory.
    options.parallel = false;
    options.resultsToArguments = true;
    auto compiled = module.run([&](ModuleOp op) {
      OwningOpRef<ModuleOp> copy = op.clone();
      return CompiledModule::compile(*copy, options);
    });
    return HostKernels(module.getContext(), std::move(compiled));
  }

  /// The address of a function of the module. See `CompiledModule::getPacked`.
  uintptr_t getAddress(const std::string &function) const {
    return reinterpret_cast<uintptr_t>(compiled.getPacked(function));
  }

private:
  HostKernels(std::shared_ptr<Context> context, CompiledModule compiled)
      : context(std::move(context)), compiled(std::move(compiled)) {}

  // Types are of this context.
  std::shared_ptr<Context> context;
  CompiledModule compiled;
};
} // namespace

/// See `chooseCUDAChip`.
static std::string chooseChip(int major, int minor) {
  llvm::Expected<std::string> chip = chooseCUDAChip(major, minor);
  if (!chip)
    throw nb::value_error(llvm::toString(chip.takeError()).c_str());
  return *chip;
}

void mlir::fad::python::bindKernels(nb::module_ &module) {
  module.def("compile_kernels", compileKernels, nb::arg("module"),
             nb::arg("chip"));
  nb::class_<HostKernels>(module, "HostKernels")
      .def("address", &HostKernels::getAddress, nb::arg("function"));
  module.def("compile_host_kernels", &HostKernels::compile, nb::arg("module"));
  module.def("kernel", getKernel, nb::arg("module"), nb::arg("function"));
  module.def("kernel_image", getImage, nb::arg("module"));
  module.def("choose_chip", chooseChip, nb::arg("major"), nb::arg("minor"));
}
