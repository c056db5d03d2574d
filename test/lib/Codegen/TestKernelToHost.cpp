//===- TestKernelToHost.cpp - Run kernels without a GPU -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Turns each kernel into a function of the host with loops over blocks and
// threads. The function takes the kernel's arguments and the number of blocks,
// and is called where the kernel is launched.
//
//===----------------------------------------------------------------------===//

#include "../TestPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
struct TestKernelToHostPass
    : PassWrapper<TestKernelToHostPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestKernelToHostPass)

  TestKernelToHostPass() = default;
  TestKernelToHostPass(const TestKernelToHostPass &other)
      : PassWrapper(other) {}

  Option<bool> driver{*this, "driver",
                      llvm::cl::desc("Make functions for the driver for tests"),
                      llvm::cl::init(false)};

  StringRef getArgument() const override { return "test-fad-kernel-to-host"; }
  StringRef getDescription() const override {
    return "Turn each kernel of a GPU module into a function with loops over "
           "blocks and threads";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                    scf::SCFDialect>();
  }

  void runOnOperation() override {
    for (auto kernels : llvm::make_early_inc_range(
             getOperation().getOps<gpu::GPUModuleOp>())) {
      for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
        convert(kernel);
      kernels.erase();
    }
    getOperation().walk(call);
    if (!driver)
      return;
    // What remains is the functions.
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (function->hasAttr(kFromKernel))
        wrap(function);
      else
        function.erase();
    }
  }

  static constexpr StringLiteral kFromKernel = "test.from_kernel";

  /// Gives the function of a kernel another name, and its own to one that the
  /// driver calls.
  void wrap(func::FuncOp function) {
    std::string name = function.getSymName().str();
    function.setSymName("host." + name);
    function.setPrivate();
    auto builder = OpBuilder::atBlockEnd(getOperation().getBody());
    ImplicitLocOpBuilder b(function.getLoc(), builder);
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(b.getContext()), {pointer, pointer, pointer});
    auto wrapper = LLVM::LLVMFuncOp::create(b, name, type);
    Block *entry = wrapper.addEntryBlock(b);
    b.setInsertionPointToStart(entry);
    SmallVector<Value> arguments;
    ArrayRef<Type> types = function.getArgumentTypes();
    for (auto [index, type] : llvm::enumerate(types.drop_back())) {
      Value slot = LLVM::GEPOp::create(
          b, pointer, pointer, entry->getArgument(0),
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
      Value address = LLVM::LoadOp::create(b, pointer, slot);
      arguments.push_back(load(b, type, address));
    }
    Value blocks =
        LLVM::LoadOp::create(b, b.getI32Type(), entry->getArgument(1));
    arguments.push_back(
        arith::IndexCastUIOp::create(b, b.getIndexType(), blocks));
    func::CallOp::create(b, function, arguments);
    LLVM::ReturnOp::create(b, ValueRange());
  }

  /// The argument of `type` whose value is at `address`: of a buffer, that is
  /// its own address.
  static Value load(ImplicitLocOpBuilder &b, Type type, Value address) {
    auto memref = dyn_cast<MemRefType>(type);
    if (type.isIndex()) {
      Value integer = LLVM::LoadOp::create(b, b.getI64Type(), address);
      return arith::IndexCastOp::create(b, type, integer);
    }
    if (!memref)
      return LLVM::LoadOp::create(b, type, address);
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value data = LLVM::LoadOp::create(b, pointer, address);
    Type word = b.getI64Type(), words = LLVM::LLVMArrayType::get(word, 1);
    Value descriptor = LLVM::PoisonOp::create(
        b, LLVM::LLVMStructType::getLiteral(
               b.getContext(), {pointer, pointer, word, words, words}));
    auto insert = [&](Value value, ArrayRef<int64_t> place) {
      descriptor = LLVM::InsertValueOp::create(b, descriptor, value, place);
    };
    auto insertWord = [&](int64_t value, ArrayRef<int64_t> place) {
      insert(LLVM::ConstantOp::create(b, word, b.getI64IntegerAttr(value)),
             place);
    };
    insert(data, {0});
    insert(data, {1});
    insertWord(0, {2});
    insertWord(memref.getDimSize(0), {3, 0});
    insertWord(1, {4, 0});
    return UnrealizedConversionCastOp::create(b, type, descriptor).getResult(0);
  }

  /// Replaces a launch by a call.
  static void call(gpu::LaunchFuncOp launch) {
    OpBuilder b(launch);
    SmallVector<Value> arguments(launch.getKernelOperands());
    arguments.push_back(launch.getGridSizeX());
    func::CallOp::create(b, launch.getLoc(), launch.getKernelName(),
                         TypeRange(), arguments);
    launch.erase();
  }

  /// Appends the function for `kernel`. A declaration of that name, with which
  /// a caller may stand before it, gives way.
  void convert(gpu::GPUFuncOp kernel) {
    if (Operation *declaration = getOperation().lookupSymbol(kernel.getName()))
      declaration->erase();
    auto builder = OpBuilder::atBlockEnd(getOperation().getBody());
    ImplicitLocOpBuilder b(kernel.getLoc(), builder);
    SmallVector<Type> types(kernel.getArgumentTypes());
    types.push_back(b.getIndexType());
    auto function =
        func::FuncOp::create(b, kernel.getName(), b.getFunctionType(types, {}));
    function->setAttr(kFromKernel, b.getUnitAttr());
    b.setInsertionPointToStart(function.addEntryBlock());

    IRMapping mapping;
    mapping.map(kernel.getArguments(), function.getArguments().drop_back());
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value threads =
        arith::ConstantIndexOp::create(b, (*kernel.getKnownBlockSize())[0]);
    auto blockLoop =
        scf::ForOp::create(b, zero, function.getArguments().back(), one);
    func::ReturnOp::create(b);
    b.setInsertionPointToStart(blockLoop.getBody());
    auto threadLoop = scf::ForOp::create(b, zero, threads, one);
    b.setInsertionPointToStart(threadLoop.getBody());
    for (Operation &op : kernel.front().without_terminator()) {
      if (auto id = dyn_cast<gpu::BlockIdOp>(op))
        mapping.map(id.getResult(), blockLoop.getInductionVar());
      else if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
        mapping.map(id.getResult(), threadLoop.getInductionVar());
      else
        b.clone(op, mapping);
    }
  }
};
} // namespace

void fad::test::registerTestKernelToHostPass() {
  PassRegistration<TestKernelToHostPass>();
}
