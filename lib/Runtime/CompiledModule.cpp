//===- CompiledModule.cpp - Functions on tensors, compiled for the host ---===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/CompiledModule.h"
#include "GlobalState.h"
#include "HostSymbols.h"
#include "SplitFunctions.h"
#include "fad/IR/Fad.h"
#include "fad/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::fad;

void fad::registerRuntimeExtensions(DialectRegistry &registry) {
  registerAllToLLVMIRTranslations(registry);
}

CompiledModule::CompiledModule() = default;
CompiledModule::CompiledModule(CompiledModule &&) = default;
CompiledModule &CompiledModule::operator=(CompiledModule &&) = default;
CompiledModule::~CompiledModule() = default;

/// The name of `function` in compiled code, which must not clash with functions
/// of the C library, such as exp.
static std::string getCompiledName(StringRef function) {
  return (function + ".fad").str();
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

static InFlightDiagnostic emitTypeError(Location loc, StringRef what,
                                        unsigned index, Type type) {
  return emitError(loc) << what << " " << index << " has the type " << type
                        << ", which cannot be passed; pass ranked tensors or "
                           "scalars of i1, i8, i16, i32, i64, index, f16, "
                           "bf16, f32 or f64";
}

LogicalResult fad::checkSignature(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (!getHostTensorType(argument.getType()))
      return emitTypeError(argument.getLoc(), "argument",
                           argument.getArgNumber(), argument.getType());
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (!getHostTensorType(type))
      return emitTypeError(function.getLoc(), "result", index, type);
  return success();
}

CompiledModule::Function CompiledModule::prepare(func::FuncOp function) {
  Function prepared;
  for (Type type : function.getArgumentTypes())
    prepared.isScalarArgument.push_back(!isa<TensorType>(type));
  SmallVector<func::ReturnOp> returns(function.getOps<func::ReturnOp>());
  // Arguments and repeated results, which compiled code would copy, are
  // forwarded. Functions with several returns, or with callers, keep their
  // results.
  bool canForward =
      returns.size() == 1 &&
      SymbolTable::symbolKnownUseEmpty(function, function->getParentOp());
  llvm::SmallDenseMap<Value, unsigned> seen;
  llvm::BitVector forwarded(function.getNumResults());
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    Result &result = prepared.results.emplace_back();
    result.type = getHostTensorType(type);
    result.isScalar = !isa<TensorType>(type);
    if (!canForward)
      continue;
    Value value = returns.front().getOperand(index);
    auto argument = dyn_cast<BlockArgument>(value);
    auto [earlier, isNew] = seen.try_emplace(value, index);
    if (argument)
      result.source = Result::Source::Argument;
    else if (!isNew)
      result.source = Result::Source::Result;
    result.index = argument ? argument.getArgNumber() : earlier->second;
    forwarded[index] = argument || !isNew;
  }
  if (forwarded.any()) {
    returns.front()->eraseOperands(forwarded);
    (void)function.eraseResults(forwarded);
  }
  for (unsigned i = 0, end = function.getNumArguments(); i < end; ++i) {
    auto isForwarded = [&](const Result &result) {
      return result.source == Result::Source::Argument && result.index == i;
    };
    if (function.getArgAttr(i, FadDialect::kOwnedAttr) &&
        !prepared.isScalarArgument[i] &&
        llvm::none_of(prepared.results, isForwarded))
      prepared.ownedArguments.push_back(i);
  }
  layOut(prepared);
  // LLVM does not support the attributes of arguments and results.
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  for (unsigned i : prepared.ownedArguments)
    function.setArgAttr(i, FadDialect::kOwnedAttr,
                        UnitAttr::get(function.getContext()));
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    UnitAttr::get(function.getContext()));
  return prepared;
}

LogicalResult CompiledModule::prepare(ModuleOp module) {
  SmallVector<func::FuncOp> withBody;
  for (auto function : module.getOps<func::FuncOp>()) {
    function->removeAttr(FadDialect::kPullbackAttr);
    if (function.isExternal())
      continue;
    withBody.push_back(function);
    if (!function.isPublic())
      continue;
    if (failed(checkSignature(function)))
      return failure();
    functions[function.getSymName()] = prepare(function);
  }
  SymbolTable symbols(module);
  for (func::FuncOp function : withBody)
    if (failed(
            symbols.rename(function, getCompiledName(function.getSymName()))))
      return failure();
  if (func::FuncOp function = addResetOfGlobals(module))
    resetName = function.getSymName().str();
  return success();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static LogicalResult emitEngineError(ModuleOp module, llvm::Error error) {
  return emitError(module.getLoc(), "cannot compile for this machine: ")
         << llvm::toString(std::move(error));
}

LogicalResult CompiledModule::createEngine(ModuleOp module, bool quickly) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return emitEngineError(module, builder.takeError());
  auto machine = builder->createTargetMachine();
  if (!machine)
    return emitEngineError(module, machine.takeError());
  loadCompilerLibrary();

  ExecutionEngineOptions options;
  // Level 3 is meant for kernels, and takes long for networks.
  auto optimize = [quickly, target = machine->get()](llvm::Module *llvmModule) {
    simplifyInterface(*llvmModule);
    bool isNetwork = splitFunctions(*llvmModule);
    unsigned level = quickly ? 1 : isNetwork ? 2 : 3;
    return makeOptimizingTransformer(level, /*sizeLevel=*/0,
                                     target)(llvmModule);
  };
  options.transformer = optimize;
  options.jitCodeGenOptLevel =
      quickly ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Default;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto created = ExecutionEngine::create(module, options, std::move(*machine));
  if (!created)
    return emitEngineError(module, created.takeError());
  engine = std::move(*created);
  engine->registerSymbols(getHostSymbols);
  for (auto &entry : functions) {
    std::string name = "_mlir_ciface_" + getCompiledName(entry.getKey());
    auto invoke = engine->lookupPacked(name);
    if (!invoke)
      return emitEngineError(module, invoke.takeError());
    entry.second.invoke = *invoke;
  }
  if (usesCUDA)
    engine->initialize();
  if (resetName.empty())
    return success();
  auto found = engine->lookupPacked("_mlir_ciface_" + resetName);
  if (!found)
    return emitEngineError(module, found.takeError());
  reset = *found;
  return success();
}

void CompiledModule::resetGlobals() const {
  if (reset)
    reset(nullptr);
}

/// Bits of the widest vectors that this machine computes with.
static int64_t getVectorBits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return 512;
  return features.lookup("avx2") ? 256 : 128;
}

/// From tensors to the LLVM dialect.
static void addLowering(PassManager &pm, const CompileOptions &options,
                        bool parallel) {
  ToCUDAOptions pipeline;
  pipeline.parallel = parallel;
  // The allocator aligns all buffers.
  pipeline.alignment = 0;
  pipeline.vectorBits = getVectorBits();
  if (options.cudaChip.empty())
    return buildToCPUPipeline(pm, pipeline);
  pipeline.chip = options.cudaChip;
  buildToCUDAPipeline(pm, pipeline);
}

FailureOr<CompiledModule> CompiledModule::compile(ModuleOp module,
                                                  CompileOptions options) {
  CompiledModule compiled;
  compiled.usesCUDA = !options.cudaChip.empty();
  bool parallel = options.parallel && loadOpenMP();
  if (failed(compiled.prepare(module)))
    return failure();
  PassManager pm(module.getContext());
  addLowering(pm, options, parallel);
  if (failed(pm.run(module)))
    return emitError(
        module.getLoc(),
        "cannot lower the module to this machine; apart from fad's "
        "own, lower other operations to those of arith, cf, func, "
        "linalg, math, scf and tensor first, as mlir-opt does "
        "with --tosa-to-linalg, for instance");
  if (failed(compiled.createEngine(module, options.quickly)))
    return failure();
  return compiled;
}
