//===- KernelsToBinary.cpp - Compile GPU modules with checks --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/CUDAToolkit.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/TypeFromLLVM.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADKERNELSTOBINARY
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The ways to install a CUDA toolkit.
static constexpr StringLiteral kGetToolkit =
    "install the CUDA toolkit, or `pip install nvidia-nvvm nvidia-cuda-nvcc`, "
    "or name a toolkit with the option 'toolkit'";

/// Fails, with an error, if an operation of `kernels` has no translation to
/// LLVM.
static LogicalResult checkLowered(gpu::GPUModuleOp kernels) {
  // The lanes of a vector have copies of one operation.
  llvm::SmallDenseSet<Location> seen;
  kernels.walk([&](Operation *op) {
    if (!isa<gpu::GPUModuleOp>(op) &&
        !isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(
            op->getDialect()) &&
        seen.insert(op->getLoc()).second)
      op->emitOpError("has no lowering to NVVM; replace it by operations that "
                      "have one");
  });
  return success(seen.empty());
}

/// The first call of each function that `kernels` does not define.
static SmallVector<LLVM::CallOp> findExternalCalls(gpu::GPUModuleOp kernels) {
  SymbolTable symbols(kernels);
  llvm::SmallDenseSet<StringRef> seen;
  SmallVector<LLVM::CallOp> calls;
  kernels.walk([&](LLVM::CallOp call) {
    std::optional<StringRef> callee = call.getCallee();
    if (!callee)
      return;
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(*callee);
    if ((!function || function.isExternal()) && seen.insert(*callee).second)
      calls.push_back(call);
  });
  return calls;
}

/// The name of the kernel around `op`, for messages.
static StringRef getKernelName(Operation *op) {
  auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>();
  return kernel ? kernel.getName() : "";
}

namespace {
struct FadKernelsToBinaryPass
    : fad::impl::FadKernelsToBinaryBase<FadKernelsToBinaryPass> {
  using FadKernelsToBinaryBase::FadKernelsToBinaryBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    FadKernelsToBinaryBase::getDependentDialects(registry);
    NVVM::registerNVVMTargetInterfaceExternalModels(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    auto target =
        llvm::StringSwitch<std::optional<gpu::CompilationTarget>>(format)
            .Case("isa", gpu::CompilationTarget::Assembly)
            .Case("bin", gpu::CompilationTarget::Binary)
            .Case("fatbin", gpu::CompilationTarget::Fatbin)
            .Default(std::nullopt);
    if (!target) {
      mlir::emitError(getOperation().getLoc(), "unknown format '")
          << format << "'; give isa, bin or fatbin";
      return signalPassFailure();
    }
    auto modules = llvm::to_vector(getOperation().getOps<gpu::GPUModuleOp>());
    if (modules.empty())
      return;
    for (gpu::GPUModuleOp kernels : modules)
      if (failed(checkLowered(kernels)) || failed(checkCalls(kernels)))
        return signalPassFailure();
    if (failed(checkTools(*target)) || failed(compile(*target)))
      signalPassFailure();
  }

private:
  LogicalResult checkCalls(gpu::GPUModuleOp kernels);
  LogicalResult checkTools(gpu::CompilationTarget target);
  LogicalResult compile(gpu::CompilationTarget target);

  /// The toolkit to compile with, or an empty string.
  StringRef getToolkit() {
    if (!chosenToolkit)
      chosenToolkit = toolkit.empty() ? findCUDAToolkit().value_or("")
                                      : std::string(toolkit);
    return *chosenToolkit;
  }
  std::optional<std::string> chosenToolkit;
};
} // namespace

/// Fails, with an error, if linking libdevice would leave a call of `kernels`
/// without a function, or with one of another type.
LogicalResult FadKernelsToBinaryPass::checkCalls(gpu::GPUModuleOp kernels) {
  SmallVector<LLVM::CallOp> calls = findExternalCalls(kernels);
  if (calls.empty())
    return success();
  std::optional<std::string> file = findLibdevice(getToolkit());
  if (!file) {
    for (LLVM::CallOp call : calls) {
      InFlightDiagnostic diag = mlir::emitError(call.getLoc())
                                << "kernel '" << getKernelName(call)
                                << "' calls '" << *call.getCallee()
                                << "' of NVIDIA's libdevice, but ";
      if (getToolkit().empty())
        diag << "there is no CUDA toolkit to link it from";
      else
        diag << "'" << getToolkit()
             << "' has no nvvm/libdevice/libdevice.10.bc";
      diag << "; " << kGetToolkit;
    }
    return failure();
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> library =
      llvm::getLazyIRFileModule(*file, error, context);
  if (!library)
    return kernels.emitError("cannot read '")
           << *file << "': " << error.getMessage() << "; " << kGetToolkit;

  LLVM::TypeFromLLVMIRTranslator translator(getContext());
  LogicalResult result = success();
  for (LLVM::CallOp call : calls) {
    const llvm::Function *function = library->getFunction(*call.getCallee());
    Type found = function && !function->isDeclaration()
                     ? translator.translateType(function->getFunctionType())
                     : Type();
    if (found == call.getCalleeFunctionType())
      continue;
    InFlightDiagnostic diag = mlir::emitError(call.getLoc())
                              << "kernel '" << getKernelName(call)
                              << "' calls '" << *call.getCallee() << "' as "
                              << call.getCalleeFunctionType() << ", ";
    if (found)
      diag << "which is " << found
           << " in libdevice; convert the operands to these types first";
    else
      diag << "which libdevice does not have; compute it from functions that "
              "it has";
    result = failure();
  }
  return result;
}

/// Fails, with an error, if a tool of the toolkit for `target` is missing.
LogicalResult
FadKernelsToBinaryPass::checkTools(gpu::CompilationTarget target) {
  SmallVector<StringRef> tools;
  if (target != gpu::CompilationTarget::Assembly)
    tools.push_back("ptxas");
  if (target == gpu::CompilationTarget::Fatbin)
    tools.push_back("fatbinary");
  for (StringRef tool : tools) {
    SmallString<128> directory(getToolkit());
    llvm::sys::path::append(directory, "bin");
    if (!llvm::sys::findProgramByName(tool, {directory.str()}) &&
        !llvm::sys::findProgramByName(tool))
      return mlir::emitError(getOperation().getLoc(), "format '")
             << format << "' takes " << tool
             << ", which is neither in the CUDA toolkit nor on the PATH; "
             << kGetToolkit << ", or emit PTX with format=isa";
  }
  return success();
}

/// Compiles all GPU modules. Upstream reports a toolkit without libdevice as an
/// error and continues; if it succeeds, no call needed the library.
LogicalResult FadKernelsToBinaryPass::compile(gpu::CompilationTarget target) {
  std::optional<SymbolTable> symbols;
  auto getSymbols = [&]() -> SymbolTable * {
    if (!symbols)
      symbols.emplace(getOperation());
    return &*symbols;
  };
  gpu::TargetOptions options(getToolkit(), /*librariesToLink=*/{},
                             /*cmdOptions=*/{}, /*elfSection=*/{}, target,
                             getSymbols);
  SmallVector<Diagnostic> diagnostics;
  LogicalResult result = success();
  {
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diag) {
      diagnostics.push_back(std::move(diag));
    });
    result = gpu::transformGpuModulesToBinaries(getOperation(),
                                                /*handler=*/nullptr, options);
  }
  for (Diagnostic &diag : diagnostics)
    if (failed(result) || diag.getSeverity() != DiagnosticSeverity::Error)
      getContext().getDiagEngine().emit(std::move(diag));
  return result;
}
