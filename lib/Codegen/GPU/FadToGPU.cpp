//===- FadToGPU.cpp - Outline elementwise operations as kernels -----------===//
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
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADTOGPU
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The name of the kernel of `op`: that of its function and `what`. PTX allows
/// letters, digits, `_` and `$`.
static std::string getKernelName(Operation *op, const Twine &what) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  std::string name =
      ((function ? function.getName() : "kernel") + "_" + what).str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '$')
      c = '_';
  return llvm::isDigit(name.front()) ? "_" + name : name;
}

/// With the first activation primitive, or the number in the function.
static std::string getKernelName(const ElementwiseKernel &kernel,
                                 unsigned number) {
  for (Operation &inner : kernel.body->without_terminator())
    if (isa_and_nonnull<FadDialect>(inner.getDialect()))
      return getKernelName(kernel.op, inner.getName().stripDialect());
  return getKernelName(kernel.op, Twine(number));
}

namespace {
struct FadToGPUPass : fad::impl::FadToGPUBase<FadToGPUPass> {
  using FadToGPUBase::FadToGPUBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkOptions()))
      return signalPassFailure();
    if (failed(findKernels()))
      return signalPassFailure();
    if (kernels.empty() && sums.empty())
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
    for (const RowSum &sum : sums)
      outline(sum, symbols);
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

  /// Finds the operations that get a kernel. Operations without results compute
  /// nothing; those with a kernel were visited before.
  LogicalResult findKernels() {
    WalkResult walk =
        getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
          // Operations in device code or in nested modules are out of scope.
          if (isa<gpu::GPUModuleOp, gpu::LaunchOp>(op) ||
              (isa<ModuleOp>(op) && op != getOperation()))
            return WalkResult::skip();
          if (op->hasAttr(FadDialect::kKernelAttr))
            return WalkResult::advance();
          auto elementwise = dyn_cast<ElementwiseOp>(op);
          if (elementwise && op->getNumResults() != 0) {
            FailureOr<ElementwiseKernel> kernel = describeKernel(elementwise);
            if (failed(kernel))
              return WalkResult::interrupt();
            kernels.push_back(*kernel);
          } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
            if (std::optional<ElementwiseKernel> kernel =
                    describeKernel(generic))
              kernels.push_back(*kernel);
            else if (std::optional<RowSum> sum = describeRowSum(generic))
              sums.push_back(*sum);
          }
          return WalkResult::advance();
        });
    return failure(walk.wasInterrupted());
  }

  /// Adds the variants of `kernel` to `symbols` and sets the attributes of its
  /// operation.
  void outline(const ElementwiseKernel &kernel, unsigned number,
               SymbolTable &symbols) {
    Tile tile = chooseTile(kernel, chip, blockSize, accesses);
    constexpr KernelVariant kVariants[] = {KernelVariant::Vectors,
                                           KernelVariant::InPlace,
                                           KernelVariant::Unaligned};
    auto suffixes = llvm::map_to_vector(kVariants, getSuffix);
    std::string name =
        getFreeName(getKernelName(kernel, number), suffixes, symbols);
    OpBuilder builder(&getContext());
    for (KernelVariant variant : kVariants)
      symbols.insert(buildKernel(builder, kernel, tile, variant,
                                 (name + getSuffix(variant)).str()));
    mark(kernel.op, name, tile.threads, tile.getSize(), symbols);
  }

  /// The same for the two kernels of `sum`.
  void outline(const RowSum &sum, SymbolTable &symbols) {
    int64_t threads = blockSize ? static_cast<int64_t>(blockSize) : kThreads;
    std::string name = getFreeName(getKernelName(sum.op, "sum"),
                                   {kPartialSuffix, kTotalSuffix}, symbols);
    OpBuilder builder(&getContext());
    symbols.insert(
        buildPartialSums(builder, sum, threads, name + kPartialSuffix.str()));
    symbols.insert(
        buildTotalSums(builder, sum, threads, name + kTotalSuffix.str()));
    mark(sum.op, name, threads, threads, symbols);
  }

  /// `base`, or `base` and a number, so that the name with each of `suffixes`
  /// is free.
  static std::string getFreeName(const std::string &base,
                                 ArrayRef<StringRef> suffixes,
                                 SymbolTable &symbols) {
    std::string name = base;
    auto isTaken = [&](StringRef suffix) {
      return symbols.lookup((name + suffix).str());
    };
    for (unsigned i = 0; llvm::any_of(suffixes, isTaken); ++i)
      name = base + "_" + std::to_string(i);
    return name;
  }

  void mark(Operation *op, StringRef name, int64_t threads, int64_t tileSize,
            SymbolTable &symbols) {
    OpBuilder builder(&getContext());
    op->setAttr(
        FadDialect::kKernelAttr,
        SymbolRefAttr::get(SymbolTable::getSymbolName(symbols.getOp()),
                           FlatSymbolRefAttr::get(&getContext(), name)));
    op->setAttr(FadDialect::kBlockSizeAttr, builder.getI64IntegerAttr(threads));
    op->setAttr(FadDialect::kTileSizeAttr, builder.getI64IntegerAttr(tileSize));
  }

  SmallVector<ElementwiseKernel> kernels;
  SmallVector<RowSum> sums;
};
} // namespace
