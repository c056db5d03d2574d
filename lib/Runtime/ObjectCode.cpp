//===- ObjectCode.cpp - Machine code of a module --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ObjectCode.h"
#include "HostSymbols.h"
#include "LLVMPasses.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::fad;

static constexpr StringLiteral kInitialize = "fad.initialize";
static constexpr StringLiteral kFinalize = "fad.finalize";
static constexpr StringLiteral kInterfacePrefix = "_mlir_ciface_";

static std::string getPackedName(StringRef name) {
  return ("_mlir_" + name).str();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static llvm::Expected<llvm::orc::JITTargetMachineBuilder> detectProcessor() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (builder) {
    builder->setRelocationModel(llvm::Reloc::PIC_);
    builder->setCodeModel(llvm::CodeModel::Small);
  }
  return builder;
}

std::string fad::describeProcessor() {
  auto builder = detectProcessor();
  if (!builder) {
    llvm::consumeError(builder.takeError());
    return "unknown";
  }
  return builder->getTargetTriple().str() + " " + builder->getCPU() + " " +
         builder->getFeatures().getString();
}

/// Adds a packed form to each C interface of `module`.
static void addPackedFunctions(llvm::Module &module) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *pointer = builder.getPtrTy();
  SmallVector<llvm::Function *> interfaces;
  for (llvm::Function &function : module)
    if (!function.isDeclaration() &&
        function.getName().starts_with(kInterfacePrefix))
      interfaces.push_back(&function);
  for (llvm::Function *function : interfaces) {
    auto *packed = llvm::Function::Create(
        llvm::FunctionType::get(builder.getVoidTy(), pointer, false),
        llvm::Function::ExternalLinkage, getPackedName(function->getName()),
        module);
    builder.SetInsertPoint(
        llvm::BasicBlock::Create(module.getContext(), "", packed));
    auto getAddress = [&](unsigned index) {
      return builder.CreateLoad(
          pointer,
          builder.CreateConstGEP1_64(pointer, packed->getArg(0), index));
    };
    SmallVector<llvm::Value *> arguments;
    for (auto [index, argument] : llvm::enumerate(function->args()))
      arguments.push_back(
          builder.CreateLoad(argument.getType(), getAddress(index)));
    llvm::Value *result = builder.CreateCall(function, arguments);
    if (!result->getType()->isVoidTy())
      builder.CreateStore(result, getAddress(arguments.size()));
    builder.CreateRetVoid();
  }
}

/// The functions of the list `name` of constructors or destructors, in order.
/// Removes the list, which a module need not have.
static SmallVector<llvm::Function *> takeList(llvm::Module &module,
                                              StringRef name) {
  llvm::GlobalVariable *list = module.getNamedGlobal(name);
  if (!list)
    return {};
  std::vector<std::pair<uint64_t, llvm::Function *>> functions;
  if (auto *entries = dyn_cast<llvm::ConstantArray>(list->getInitializer()))
    for (llvm::Value *entry : entries->operands()) {
      auto *fields = cast<llvm::ConstantStruct>(entry);
      functions.emplace_back(
          cast<llvm::ConstantInt>(fields->getOperand(0))->getZExtValue(),
          cast<llvm::Function>(fields->getOperand(1)->stripPointerCasts()));
    }
  llvm::stable_sort(functions, llvm::less_first());
  list->eraseFromParent();
  return llvm::to_vector(llvm::make_second_range(functions));
}

/// Makes a function `name` that calls what the list `listName` of constructors
/// or destructors has.
static void callList(llvm::Module &module, StringRef listName, StringRef name) {
  SmallVector<llvm::Function *> functions = takeList(module, listName);
  llvm::IRBuilder<> builder(module.getContext());
  auto *caller = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(), false),
      llvm::Function::ExternalLinkage, name, module);
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "", caller));
  for (llvm::Function *function : functions)
    builder.CreateCall(function, {});
  builder.CreateRetVoid();
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
fad::compileToObject(ModuleOp module, unsigned level) {
  auto builder = detectProcessor();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(level == 0   ? llvm::CodeGenOptLevel::None
                              : level == 1 ? llvm::CodeGenOptLevel::Less
                                           : llvm::CodeGenOptLevel::Default);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return llvm::createStringError("it cannot be translated to LLVM's IR");
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  callList(*code, "llvm.global_ctors", kInitialize);
  callList(*code, "llvm.global_dtors", kFinalize);
  addPackedFunctions(*code);
  simplifyInterface(*code);
  bool isNetwork = splitFunctions(*code);
  optimize(*code, **machine, level, isNetwork);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr,
                                      llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("there are no object files here");
  passes.run(*code);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(bytes), "fad", /*RequiresNullTerminator=*/false);
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

LinkedCode::~LinkedCode() {
  if (finalize)
    finalize();
}

llvm::Expected<std::unique_ptr<LinkedCode>>
LinkedCode::link(std::unique_ptr<llvm::MemoryBuffer> object) {
  auto builder = detectProcessor();
  if (!builder)
    return builder.takeError();
  loadCompilerLibrary();
  auto code = std::make_unique<LinkedCode>();
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*builder))
                 // Constructors are called by name.
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .setLinkProcessSymbolsByDefault(false)
                 .create();
  if (!jit)
    return jit.takeError();
  code->jit = std::move(*jit);
  llvm::orc::JITDylib &library = code->jit->getMainJITDylib();
  llvm::orc::MangleAndInterner mangle(code->jit->getExecutionSession(),
                                      code->jit->getDataLayout());
  if (llvm::Error error = library.define(
          llvm::orc::absoluteSymbols(getHostSymbols(std::move(mangle)))))
    return std::move(error);
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      code->jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (llvm::Error error = code->jit->addObjectFile(std::move(object)))
    return std::move(error);
  return code;
}

llvm::Expected<PackedFunction> LinkedCode::lookup(StringRef name) {
  auto address = jit->lookup(getPackedName(name));
  if (!address)
    return address.takeError();
  return address->toPtr<PackedFunction>();
}

llvm::Error LinkedCode::initialize() {
  auto initializer = jit->lookup(kInitialize);
  if (!initializer)
    return initializer.takeError();
  initializer->toPtr<void (*)()>()();
  auto finalizer = jit->lookup(kFinalize);
  if (!finalizer)
    return finalizer.takeError();
  finalize = finalizer->toPtr<void (*)()>();
  return llvm::Error::success();
}
