//===- CompiledModule.cpp - Functions on tensors, compiled for the host ---===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/CompiledModule.h"
#include "CInterface.h"
#include "GlobalState.h"
#include "HostSymbols.h"
#include "Library/Gemm.h"
#include "ObjectCode.h"
#include "fad/Analysis/Entry.h"
#include "fad/IR/Fad.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Runtime/CompileCache.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_sha1_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <mutex>

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
  InFlightDiagnostic diagnostic =
      emitError(loc) << what << " " << index << " has the type " << type
                     << ", which cannot be passed; pass ranked tensors or "
                        "scalars of i1, i8, i16, i32, i64, index, f16, "
                        "bf16, f32 or f64";
  if (isa<BaseMemRefType>(type))
    diagnostic << "; " << kTakesTensors;
  return diagnostic;
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
  addCInterface(function);
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

llvm::Error CompiledModule::link(std::unique_ptr<llvm::MemoryBuffer> object) {
  auto linked = LinkedCode::link(std::move(object));
  if (!linked)
    return linked.takeError();
  code = std::move(*linked);
  auto find = [&](const std::string &name) {
    return code->lookup("_mlir_ciface_" + name);
  };
  for (auto &entry : functions) {
    auto invoke = find(getCompiledName(entry.getKey()));
    if (!invoke)
      return invoke.takeError();
    entry.second.invoke = *invoke;
  }
  if (!resetName.empty()) {
    auto found = find(resetName);
    if (!found)
      return found.takeError();
    reset = *found;
  }
  return usesCUDA ? code->initialize() : llvm::Error::success();
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

/// Whether `module` may have contractions of floating point.
static bool mayContract(ModuleOp module) {
  return module
      .walk([](linalg::LinalgOp op) {
        bool contracts = op.getNumReductionLoops() && op.getNumDpsInputs() == 2;
        return contracts ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult fad::setContractions(ToCPUOptions &pipeline, Contractions wanted,
                                   ModuleOp module) {
  pipeline.contractions = Contractions::loops;
  if (wanted == Contractions::loops || !mayContract(module))
    return success();
  ArrayRef<std::string> types = getLibraryTypes();
  if (!types.empty()) {
    pipeline.contractions = wanted;
    pipeline.contractionTypes = types;
    return success();
  }
  const char *message = "there is neither oneDNN (libdnnl.so.2 or .3) nor "
                        "OpenBLAS (libopenblas.so.0)";
  if (wanted == Contractions::library)
    return emitError(module.getLoc(), message)
           << "; install one, or choose auto or loops";
  static std::once_flag once;
  std::call_once(once, [&] {
    llvm::errs() << "note: " << message
                 << ", so contractions are loops, which take longer\n";
  });
  return success();
}

/// The pipeline for this machine.
static LogicalResult setOptions(ToCUDAOptions &pipeline,
                                const CompileOptions &options,
                                ModuleOp module) {
  pipeline.parallel = options.parallel && loadOpenMP();
  pipeline.resultsToArguments = options.resultsToArguments;
  // The allocator aligns all buffers.
  pipeline.alignment = 0;
  pipeline.vectorBits = getVectorBits();
  pipeline.chip = options.cudaChip;
  return setContractions(pipeline, options.contractions, module);
}

static LogicalResult lower(ModuleOp module, const ToCUDAOptions &pipeline) {
  PassManager pm(module.getContext());
#ifdef NDEBUG
  // To verify the module behind each of fifty passes takes 38% of their time.
  pm.enableVerifier(false);
#endif
  if (pipeline.chip.empty())
    buildToCPUPipeline(pm, pipeline);
  else
    buildToCUDAPipeline(pm, pipeline);
  if (succeeded(pm.run(module)))
    return verify(module);
  return emitError(module.getLoc(),
                   "cannot lower the module to this machine; apart from fad's "
                   "own, lower other operations to those of arith, cf, func, "
                   "linalg, math, scf and tensor first, as mlir-opt does "
                   "with --tosa-to-linalg, for instance");
}

/// LLVM's level of optimization, 0 to 3: that of the variable FAD_OPT_LEVEL of
/// the environment, by default 3. If the variable has no such value, `warn` is
/// told so, the first time.
static unsigned
getOptimizationLevel(llvm::function_ref<void(const llvm::Twine &)> warn) {
  constexpr unsigned usual = 3;
  const char *level = std::getenv("FAD_OPT_LEVEL");
  if (!level || !*level)
    return usual;
  unsigned parsed;
  if (!StringRef(level).getAsInteger(10, parsed) && parsed <= usual)
    return parsed;
  static std::once_flag once;
  std::call_once(once, [&] {
    warn(llvm::Twine("FAD_OPT_LEVEL is '") + level +
         "', which is no level of LLVM's optimization; the levels are 0 to 3; "
         "code is compiled with 3");
  });
  return usual;
}

/// Writes `module` as bytecode, without locations, which no code depends on.
/// Constants are written from where they are.
static LogicalResult writeProgram(ModuleOp module, llvm::raw_ostream &os) {
  OwningOpRef<ModuleOp> copy = module.clone();
  Location unknown = UnknownLoc::get(module.getContext());
  copy->walk([&](Operation *op) {
    op->setLoc(unknown);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setLoc(unknown);
  });
  return writeBytecodeToFile(*copy, os);
}

/// The key under which a cache has the code of `module`; empty if the code
/// depends on more than what is known here.
static std::string getCacheKey(ModuleOp module, const ToCUDAOptions &pipeline,
                               unsigned level) {
  const std::string &build = describeBuild();
  // Threads may compile while the process ends, so this is not destroyed.
  static const std::string &processor = *new std::string(describeProcessor());
  // Code for a GPU depends on the toolkit, too.
  if (build.empty() || !pipeline.chip.empty())
    return {};
  llvm::raw_sha1_ostream key;
  key << build << processor << "\n";
  static_cast<const ToCPUOptions &>(pipeline).print(key);
  key << " O" << level << "\n";
  // The text of an invalid program is no name for its code.
  if (failed(writeProgram(module, key)))
    return {};
  return llvm::toHex(key.sha1(), /*LowerCase=*/true);
}

/// The machine code of `module`, from the cache or compiled.
static FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
makeObject(ModuleOp module, const ToCUDAOptions &pipeline,
           const CompileOptions &options) {
  std::optional<CompileCache> cache;
  std::string key;
  auto warn = [&](const Twine &message) {
    emitWarning(module.getLoc()) << message;
  };
  unsigned level =
      std::min(getOptimizationLevel(warn), options.quickly ? 1u : 3u);
  if (options.useCache && (cache = CompileCache::get(warn)))
    key = getCacheKey(module, pipeline, level);
  if (!key.empty())
    if (std::unique_ptr<llvm::MemoryBuffer> found = cache->load(key))
      return found;
  if (failed(lower(module, pipeline)))
    return failure();
  auto object = compileToObject(module, level);
  if (!object) {
    (void)emitEngineError(module, object.takeError());
    return failure();
  }
  if (!key.empty())
    cache->store(key, (*object)->getBuffer());
  return std::move(*object);
}

FailureOr<CompiledModule> CompiledModule::compile(ModuleOp module,
                                                  CompileOptions options) {
  CompiledModule compiled;
  compiled.usesCUDA = !options.cudaChip.empty();
  if (failed(compiled.prepare(module)))
    return failure();
  ToCUDAOptions pipeline;
  if (failed(setOptions(pipeline, options, module)))
    return failure();
  auto object = makeObject(module, pipeline, options);
  if (failed(object))
    return failure();
  if (llvm::Error error = compiled.link(std::move(*object)))
    return emitEngineError(module, std::move(error));
  return compiled;
}
