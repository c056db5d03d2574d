//===- Preconditions.cpp - Preconditions on arguments ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/Preconditions.h"
#include "Assertions.h"
#include "GlobalState.h"
#include "fad/Codegen/Passes.h"
#include "fad/Codegen/RuntimeVerification.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fad;

FailureOr<OwningOpRef<ModuleOp>> fad::extractFunction(func::FuncOp function) {
  OwningOpRef<ModuleOp> module = function->getParentOfType<ModuleOp>().clone();
  for (auto candidate : module->getOps<func::FuncOp>()) {
    candidate->removeAttr(FadDialect::kPullbackAttr);
    candidate.setVisibility(candidate.getSymName() == function.getSymName()
                                ? SymbolTable::Visibility::Public
                                : SymbolTable::Visibility::Private);
  }
  PassManager pm(module->getContext());
  pm.addPass(createSymbolDCEPass());
  if (failed(pm.run(*module)))
    return failure();
  for (auto candidate : module->getOps<func::FuncOp>())
    if (candidate.isExternal())
      return emitError(candidate.getLoc(), "@")
             << candidate.getSymName() << " is called by @"
             << function.getSymName()
             << " and has no body; define it in the same file";
  return module;
}

void fad::eraseAssertions(ModuleOp module) {
  module.walk([](cf::AssertOp op) { op.erase(); });
}

/// Asserts the preconditions of each operation that can be verified at run
/// time, of those that the lowering to linalg replaces or of the others.
static void addVerification(ModuleOp module, bool beforeLowering) {
  SmallVector<RuntimeVerifiableOpInterface> ops;
  module.walk([&](RuntimeVerifiableOpInterface op) {
    // Upstream's computation of the ends of slices may wrap.
    if (!isa<tensor::ExtractSliceOp>(op) &&
        isVerifiedBeforeLowering(op) == beforeLowering)
      ops.push_back(op);
  });
  auto getMessage = [](Operation *, StringRef detail) {
    return ("these sizes do not fit together: " + detail).str();
  };
  for (RuntimeVerifiableOpInterface op : ops) {
    OpBuilder builder(op);
    op.generateRuntimeVerification(builder, op.getLoc(), getMessage);
  }
}

/// Makes the conditions of operations explicit as `cf.assert`, whose message is
/// the one for the user.
static LogicalResult makeExplicit(ModuleOp module) {
  PassManager inlining(module.getContext());
  inlining.addPass(createFadCheckSizes());
  inlining.addPass(createFadCheckInits());
  inlining.addPass(createFadCheckCalls());
  inlining.addPass(createInlinerPass());
  if (failed(inlining.run(module)))
    return failure();
  module.walk([&](cf::AssertOp op) {
    op.setMsg(("assertion failed: " + op.getMsg()).str());
  });
  addPaddingAssertions(module);
  addVerification(module, /*beforeLowering=*/true);
  PassManager normalize(module.getContext());
  normalize.addNestedPass<func::FuncOp>(createFadNormalize());
  normalize.addPass(createFadToLinalg());
  normalize.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  if (failed(normalize.run(module)))
    return failure();
  addVerification(module, /*beforeLowering=*/false);
  addAssertions(module);
  return success();
}

namespace {
/// A result has the sizes of its init. Upstream's pattern infers them from the
/// other operands and the indexing maps, which need not determine them.
struct TakeSizeOfInit : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto source = dyn_cast<OpResult>(op.getSource());
    auto owner = source
                     ? dyn_cast<DestinationStyleOpInterface>(source.getOwner())
                     : DestinationStyleOpInterface();
    if (!owner)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getSourceMutable().set(owner.getTiedOpOperand(source)->get());
    });
    return success();
  }
};
} // namespace

/// Computes sizes from those of arguments where possible.
static LogicalResult resolveSizes(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<TakeSizeOfInit>(module.getContext(), /*benefit=*/2);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

namespace {
struct IndexRange
    : InferIntRangeInterface::ExternalModel<IndexRange, linalg::IndexOp> {
  void inferResultRanges(Operation *op, ArrayRef<ConstantIntRanges>,
                         SetIntRangeFn setResultRanges) const {
    auto index = cast<linalg::IndexOp>(op);
    auto owner = cast<linalg::LinalgOp>(op->getBlock()->getParentOp());
    int64_t size = owner.getStaticLoopRanges()[index.getDim()];
    unsigned width = IndexType::kInternalStorageBitWidth;
    APInt last = APInt::getSignedMaxValue(width);
    // A loop of no iteration has no index, of which all is true.
    if (ShapedType::isStatic(size))
      last = APInt(width, std::max<int64_t>(size - 1, 0));
    setResultRanges(index.getResult(), ConstantIntRanges::fromUnsigned(
                                           APInt::getZero(width), last));
  }

  void inferResultRangesFromOptional(Operation *op,
                                     ArrayRef<IntegerValueRange> ranges,
                                     SetIntLatticeFn setResultRanges) const {
    intrange::detail::defaultInferResultRanges(cast<InferIntRangeInterface>(op),
                                               ranges, setResultRanges);
  }
};
} // namespace

/// Tells MLIR's analysis of integer ranges that a `linalg.index` is less than
/// the size of its loop, which upstream does not.
static void registerIndexRange(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::IndexOp::attachInterface<IndexRange>(*context);
  });
}

/// Adds passes that leave out what no assertion reads. Most indices of loops
/// are inside of their tensors, which their ranges show; and canonicalization
/// keeps what a loop carries, and with it whole programs.
static void addRemovalOfUnread(PassManager &pm, ModuleOp module) {
  // Of a function that calls itself, upstream narrows ranges step by step, and
  // removes values that the call still has.
  auto isCall = [](CallOpInterface) { return WalkResult::interrupt(); };
  if (module.walk(isCall).wasInterrupted())
    return;
  DialectRegistry registry;
  registerIndexRange(registry);
  module.getContext()->appendDialectRegistry(registry);
  pm.addPass(arith::createIntRangeOptimizationsPass());
  pm.addPass(createRemoveDeadValuesPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

LogicalResult fad::reduceToPreconditions(ModuleOp module) {
  DialectRegistry registry;
  registerRuntimeVerification(registry);
  module.getContext()->appendDialectRegistry(registry);
  if (failed(makeExplicit(module)))
    return failure();
  OpBuilder builder(module.getContext());
  for (auto function : module.getOps<func::FuncOp>()) {
    // A function that calls itself needs its results.
    if (!function.isPublic() ||
        !SymbolTable::symbolKnownUseEmpty(function, module))
      continue;
    function.walk([](func::ReturnOp op) { op->setOperands({}); });
    function.setFunctionType(
        builder.getFunctionType(function.getArgumentTypes(), {}));
    function.setAllResultAttrs(ArrayRef<DictionaryAttr>());
  }
  // An operation that computes and asserts is reduced to its assertion, and
  // earlier operations to the operands of assertions.
  RewritePatternSet patterns(module.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return failure();
  if (failed(resolveSizes(module)))
    return failure();
  PassManager simplify(module.getContext());
  simplify.addPass(createCanonicalizerPass());
  simplify.addPass(createCSEPass());
  addRemovalOfUnread(simplify, module);
  simplify.addPass(createSymbolDCEPass());
  return simplify.run(module);
}

/// The mutable globals whose values `module` reads.
static SmallVector<std::string> findGlobalsRead(ModuleOp module) {
  DenseSet<StringRef> read;
  module.walk([&](ml_program::GlobalLoadOp op) {
    read.insert(op.getGlobal().getLeafReference().getValue());
  });
  SmallVector<std::string> names;
  for (auto global : module.getOps<ml_program::GlobalOp>())
    if (global.getIsMutable() && read.contains(global.getSymName()))
      names.push_back(global.getSymName().str());
  return names;
}

FailureOr<Preconditions> Preconditions::compile(ModuleOp module) {
  OwningOpRef<ModuleOp> reduced = module.clone();
  if (failed(reduceToPreconditions(*reduced)))
    return failure();
  // An assertion tells its number; there may be no text at its location.
  Preconditions preconditions;
  reduced->walk([&](cf::AssertOp op) {
    std::string number = std::to_string(preconditions.all.size());
    preconditions.all.push_back({op.getLoc(), op.getMsg().str()});
    op.setMsg(number);
  });
  if (preconditions.all.empty())
    return preconditions;

  auto functions = reduced->getOps<func::FuncOp>();
  auto entry =
      llvm::find_if(functions, [](func::FuncOp f) { return f.isPublic(); });
  preconditions.function = (*entry).getSymName().str();
  preconditions.globals = findGlobalsRead(*reduced);
  if (!preconditions.globals.empty())
    preconditions.storeGlobals =
        addStoreOfGlobals(*reduced, preconditions.globals);
  CompileOptions options;
  options.parallel = false;
  options.quickly = true;
  FailureOr<CompiledModule> compiled =
      CompiledModule::compile(*reduced, options);
  if (failed(compiled))
    return failure();
  preconditions.compiled = std::move(*compiled);
  return preconditions;
}

std::optional<Precondition>
Preconditions::findViolated(ArrayRef<HostTensor> arguments,
                            ArrayRef<HostTensor> values) const {
  if (!compiled)
    return std::nullopt;
  llvm::Error error = values.empty()
                          ? llvm::Error::success()
                          : compiled->call(storeGlobals, values).takeError();
  if (!error)
    error = compiled->call(function, arguments).takeError();
  if (!error)
    return std::nullopt;
  std::string message = llvm::toString(std::move(error));
  unsigned number;
  if (!StringRef(message).getAsInteger(10, number))
    return all[number];
  // Memory may be lacking.
  return Precondition{UnknownLoc::get(all.front().loc.getContext()), message};
}

LogicalResult fad::checkPreconditions(ModuleOp module,
                                      ArrayRef<HostTensor> arguments) {
  FailureOr<Preconditions> preconditions = Preconditions::compile(module);
  if (failed(preconditions))
    return failure();
  if (std::optional<Precondition> violated =
          preconditions->findViolated(arguments))
    return emitError(violated->loc) << violated->message;
  return success();
}
