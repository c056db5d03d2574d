//===- LaunchKernels.cpp - Replace loops by launches of their kernels -----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseKernel.h"
#include "RowSum.h"
#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADLAUNCHKERNELS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct LaunchKernelsPass : fad::impl::FadLaunchKernelsBase<LaunchKernelsPass> {
  using FadLaunchKernelsBase::FadLaunchKernelsBase;

  void runOnOperation() override {
    if (largestLaunch < 1 || largestLaunch > kLargestLaunch) {
      mlir::emitError(getOperation().getLoc(), "largest-launch is ")
          << static_cast<int64_t>(largestLaunch) << "; give a number from 1 to "
          << kLargestLaunch;
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (op->hasAttr(FadDialect::kKernelAttr))
        ops.push_back(op);
    });
    OpBuilder builder(&getContext());
    for (Operation *op : ops)
      if (failed(launch(builder, op)))
        return signalPassFailure();
    if (getOperation().walk(checkOperands).wasInterrupted())
      return signalPassFailure();
    if (!ops.empty())
      getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                              builder.getUnitAttr());
  }

  /// Whether the operands of `op` have the types of the kernel's arguments, if
  /// the kernel is available. They differ if a captured scalar became a
  /// constant after outlining.
  static WalkResult checkOperands(gpu::LaunchFuncOp op) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
        op, op.getKernelAttr());
    if (!kernel || llvm::equal(kernel.getArgumentTypes(),
                               op.getKernelOperands().getTypes()))
      return WalkResult::advance();
    op.emitOpError("gives kernel ")
        << op.getKernelAttr() << " other operands than it takes: the loop "
        << "changed after fad-to-gpu; run fad-to-gpu after what changes it";
    return WalkResult::interrupt();
  }

  LogicalResult launch(OpBuilder &builder, Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !generic.hasPureBufferSemantics())
      return op->emitOpError("has a kernel and is not on buffers; bufferize it "
                             "first");
    auto isNumber = [&](StringRef name) {
      auto number = op->getAttrOfType<IntegerAttr>(name);
      return number && number.getInt() > 0;
    };
    bool isSized = isNumber(FadDialect::kBlockSizeAttr) &&
                   isNumber(FadDialect::kTileSizeAttr);
    std::optional<ElementwiseKernel> kernel = describeKernel(generic);
    std::optional<RowSum> sum = describeRowSum(generic);
    if (isSized && kernel)
      launchElementwise(builder, generic, *kernel, largestLaunch);
    else if (isSized && sum)
      launchRowSum(builder, generic, *sum);
    else
      return op->emitOpError("has a kernel that is none of fad-to-gpu; remove "
                             "'fad.kernel'");
    return success();
  }
};
} // namespace
