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

  StringRef getArgument() const override { return "test-fad-kernel-to-host"; }
  StringRef getDescription() const override {
    return "Turn each kernel of a GPU module into a function with loops over "
           "blocks and threads";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    for (auto kernels : llvm::make_early_inc_range(
             getOperation().getOps<gpu::GPUModuleOp>())) {
      for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
        convert(kernel);
      kernels.erase();
    }
    getOperation().walk(call);
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
