//===- FadToGPU.cpp - Outline elementwise operations as kernels -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPU/ElementwiseKernel.h"
#include "fad/Conversion/Passes.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADTOGPU
#include "fad/Conversion/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The name of the kernel: that of its function and of its first activation
/// primitive, or its number in the function. PTX allows letters, digits, `_`
/// and
/// `$`.
static std::string getKernelName(const ElementwiseKernel &kernel,
                                 unsigned number) {
  auto function = kernel.op->getParentOfType<FunctionOpInterface>();
  std::string name = function ? function.getName().str() : "kernel";
  auto primitives = llvm::make_filter_range(
      kernel.body->without_terminator(),
      [](Operation &inner) { return isa<FadDialect>(inner.getDialect()); });
  name += '_';
  name += primitives.empty()
              ? std::to_string(number)
              : (*primitives.begin()).getName().stripDialect().str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '$')
      c = '_';
  return llvm::isDigit(name.front()) ? "_" + name : name;
}

namespace {
struct FadToGPUPass : fad::impl::FadToGPUBase<FadToGPUPass> {
  using FadToGPUBase::FadToGPUBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkOptions()))
      return signalPassFailure();
    SmallVector<ElementwiseKernel> kernels;
    if (failed(findKernels(kernels)))
      return signalPassFailure();
    if (kernels.empty())
      return;

    auto builder = OpBuilder::atBlockEnd(module.getBody());
    auto gpuModule =
        gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
    SymbolTable(module).insert(gpuModule);
    SymbolTable symbols(gpuModule);
    llvm::SmallDenseMap<Operation *, unsigned> numbers;
    for (const ElementwiseKernel &kernel : kernels) {
      Operation *function = kernel.op->getParentOfType<FunctionOpInterface>();
      outline(kernel, numbers[function]++, symbols);
    }
    RewritePatternSet patterns(&getContext());
    populateExpandPrimitivesPatterns(patterns);
    if (failed(applyPatternsGreedily(gpuModule, std::move(patterns))))
      signalPassFailure();
  }

private:
  LogicalResult checkOptions() {
    if (blockSize < 0 || blockSize > 1024 || blockSize % 32 != 0)
      return mlir::emitError(getOperation().getLoc(), "block-size is ")
             << static_cast<int64_t>(blockSize)
             << "; give a multiple of 32 from 32 to 1024, or 0 for that of the "
                "chip";
    if (accesses < 0 || accesses > 8)
      return mlir::emitError(getOperation().getLoc(), "accesses is ")
             << static_cast<int64_t>(accesses)
             << "; give 1 to 8, or 0 for that of the chip";
    return success();
  }

  /// Finds what is to have a kernel. Operations without results compute
  /// nothing; those with a kernel have been here.
  LogicalResult findKernels(SmallVectorImpl<ElementwiseKernel> &kernels) {
    WalkResult walk = getOperation().walk([&](Operation *op) {
      if (op->hasAttr(FadDialect::kKernelAttr))
        return WalkResult::advance();
      auto elementwise = dyn_cast<ElementwiseOp>(op);
      if (elementwise && op->getNumResults() != 0) {
        FailureOr<ElementwiseKernel> kernel = describeKernel(elementwise);
        if (failed(kernel))
          return WalkResult::interrupt();
        kernels.push_back(*kernel);
      } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        if (std::optional<ElementwiseKernel> kernel = describeKernel(generic))
          kernels.push_back(*kernel);
      }
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  /// Adds the variants of `kernel` to `symbols` and says so on its operation.
  void outline(const ElementwiseKernel &kernel, unsigned number,
               SymbolTable &symbols) {
    Tile tile =
        chooseTile(kernel, getTileParameters(chip), {blockSize, accesses});
    std::string base = getKernelName(kernel, number);
    constexpr KernelVariant kVariants[] = {KernelVariant::Vectors,
                                           KernelVariant::InPlace,
                                           KernelVariant::Unaligned};
    // A name is free where it is for all variants.
    auto isTaken = [&](StringRef name) {
      return llvm::any_of(kVariants, [&](KernelVariant variant) {
        return symbols.lookup((name + getSuffix(variant)).str());
      });
    };
    std::string name = base;
    for (unsigned i = 0; isTaken(name); ++i)
      name = base + "_" + std::to_string(i);

    OpBuilder builder(&getContext());
    for (KernelVariant variant : kVariants)
      symbols.insert(buildKernel(builder, kernel, tile, variant,
                                 (name + getSuffix(variant)).str()));
    kernel.op->setAttr(
        FadDialect::kKernelAttr,
        SymbolRefAttr::get(SymbolTable::getSymbolName(symbols.getOp()),
                           FlatSymbolRefAttr::get(&getContext(), name)));
    kernel.op->setAttr(FadDialect::kBlockSizeAttr,
                       builder.getI64IntegerAttr(tile.threads));
    kernel.op->setAttr(FadDialect::kTileSizeAttr,
                       builder.getI64IntegerAttr(tile.getSize()));
  }
};
} // namespace
