//===- FadTransformOps.cpp - Differentiation in schedules -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A schedule differentiates one function, and the pipelines work on modules. So
// each operation copies the function, with the symbols that it refers to, into
// a module of its own, and takes the functions that the pipeline makes there.
//
//===----------------------------------------------------------------------===//

// LLVM's packages are built without assertions, and lack a function that the
// templates of this header call where there are assertions.
#ifndef NDEBUG
#define NDEBUG
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#undef NDEBUG
#include <cassert>
#endif

#include "fad/Analysis/Entry.h"
#include "fad/IR/Fad.h"
#include "fad/Pipelines/NestedPair.h"
#include "fad/Pipelines/Stages.h"
#include "fad/TransformOps/FadTransformOps.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mlir::fad;
using transform::ApplyToEachResultList;
using transform::TransformRewriter;
using transform::TransformState;

#define GET_OP_CLASSES
#include "fad/TransformOps/FadTransformOps.cpp.inc"

namespace {
/// Holds errors back while it is alive: they are reasons of a failure that the
/// schedule may silence.
class HeldErrors {
public:
  explicit HeldErrors(MLIRContext *context)
      : handler(context, [this](Diagnostic &it) { return hold(it); }) {}

  void attachTo(DiagnosedSilenceableFailure &failure) const {
    for (const auto &[loc, message] : errors)
      failure.attachNote(loc) << message;
  }

private:
  LogicalResult hold(Diagnostic &diagnostic) {
    // Other threads may be busy with another module.
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error ||
        llvm::get_threadid() != thread)
      return failure();
    errors.emplace_back(diagnostic.getLocation(), diagnostic.str());
    return success();
  }

  uint64_t thread = llvm::get_threadid();
  SmallVector<std::pair<Location, std::string>> errors;
  ScopedDiagnosticHandler handler;
};

/// A module with copies of a function and of the symbols that it uses.
class Extracted {
public:
  explicit Extracted(func::FuncOp target);

  ModuleOp getModule() { return *module; }
  func::FuncOp getFunction() {
    return module->lookupSymbol<func::FuncOp>(target.getSymNameAttr());
  }

  /// Moves `made`, functions of the module, to the place of the target. The
  /// target is erased if one of them has its name, or if no other operation
  /// refers to it.
  DiagnosedSilenceableFailure moveBack(ArrayRef<func::FuncOp> made,
                                       transform::TransformOpInterface op,
                                       TransformRewriter &rewriter);

private:
  func::FuncOp target;
  OwningOpRef<ModuleOp> module;
};
} // namespace

Extracted::Extracted(func::FuncOp target)
    : target(target), module(ModuleOp::create(target.getLoc())) {
  llvm::SetVector<Operation *> needed;
  needed.insert(target);
  for (size_t next = 0; next < needed.size(); ++next)
    if (auto uses = SymbolTable::getSymbolUses(needed[next]))
      for (SymbolTable::SymbolUse use : *uses)
        if (Operation *symbol = SymbolTable::lookupNearestSymbolFrom(
                target, use.getSymbolRef().getRootReference()))
          needed.insert(symbol);
  for (Operation *op : needed)
    module->push_back(op->clone());
}

DiagnosedSilenceableFailure
Extracted::moveBack(ArrayRef<func::FuncOp> made,
                    transform::TransformOpInterface op,
                    TransformRewriter &rewriter) {
  Operation *table = SymbolTable::getNearestSymbolTable(target);
  bool replaces = false;
  for (func::FuncOp function : made) {
    Operation *present =
        SymbolTable::lookupSymbolIn(table, function.getSymNameAttr());
    replaces |= present == target;
    if (present && present != target)
      return op.emitSilenceableError()
             << "cannot add @" << function.getSymName()
             << ": there is a symbol of that name; rename it, or @"
             << target.getSymName();
  }
  rewriter.setInsertionPoint(target);
  for (func::FuncOp function : made) {
    function->remove();
    rewriter.insert(function);
  }
  if (replaces || SymbolTable::symbolKnownUseEmpty(target, table))
    rewriter.eraseOp(target);
  return DiagnosedSilenceableFailure::success();
}

/// A failure of `op` on `target` for the reasons `errors`.
static DiagnosedSilenceableFailure fail(transform::TransformOpInterface op,
                                        func::FuncOp target, StringRef what,
                                        const HeldErrors &errors) {
  DiagnosedSilenceableFailure failure = op.emitSilenceableError()
                                        << "cannot " << what << " @"
                                        << target.getSymName();
  errors.attachTo(failure);
  return failure;
}

/// Reads the options of an operation that differentiates `target`.
template <typename Op>
static DiagnosedSilenceableFailure readOptions(Op op, func::FuncOp target,
                                               NestOptions &options) {
  std::string text, message;
  llvm::raw_string_ostream spelled(text);
  if (auto policy = op.getPolicy())
    spelled << "policy=" << *policy;
  auto spell = [&](StringRef name, std::optional<ArrayRef<int64_t>> numbers) {
    spelled << " " << name << "=";
    llvm::interleave(*numbers, spelled, ",");
  };
  for (auto [name, numbers] : {std::pair("wrt", op.getWrt()),
                               std::pair("results", op.getOfResults())}) {
    if (!numbers)
      continue;
    if (numbers->empty())
      return op.emitDefiniteFailure()
             << name << " is empty, so there is nothing to differentiate";
    spell(name, numbers);
  }
  if (auto others = op.getOptions()) {
    NestOptions given;
    if (failed(parseOptions(given, *others, message)))
      return op.emitDefiniteFailure() << message;
    for (auto [name, isTwice] :
         {std::pair("entry", given.entry.hasValue()),
          std::pair("policy", op.getPolicy() && given.policy.hasValue()),
          std::pair("wrt", op.getWrt() && given.wrt.hasValue()),
          std::pair("results", op.getOfResults() && given.results.hasValue())})
      if (isTwice)
        return op.emitDefiniteFailure()
               << "the options have " << name
               << ", which the operation itself says; leave it out";
    spelled << " " << *others;
  }
  if (failed(parseOptions(options, text, message)))
    return op.emitDefiniteFailure() << message;
  options.entry = target.getSymName().str();
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure transform::FadPartitionOp::applyToOne(
    TransformRewriter &rewriter, func::FuncOp target,
    ApplyToEachResultList &results, TransformState &) {
  HeldErrors errors(getContext());
  Extracted copy(target);
  NestOptions options;
  options.entry = target.getSymName().str();
  PassManager pm(getContext());
  buildPartitionPipeline(pm, options);
  if (failed(pm.run(copy.getModule())))
    return fail(*this, target, "partition", errors);
  func::FuncOp function = copy.getFunction();
  function.setVisibility(target.getVisibility());
  results.push_back(function);
  return copy.moveBack(function, *this, rewriter);
}

DiagnosedSilenceableFailure transform::FadDifferentiateOp::applyToOne(
    TransformRewriter &rewriter, func::FuncOp target,
    ApplyToEachResultList &results, TransformState &) {
  NestOptions options;
  auto read = readOptions(*this, target, options);
  if (!read.succeeded())
    return read;
  HeldErrors errors(getContext());
  Extracted copy(target);
  FailureOr<func::FuncOp> joint = createJoint(copy.getModule(), options);
  if (failed(joint))
    return fail(*this, target, "differentiate", errors);
  results.push_back(*joint);
  return copy.moveBack(*joint, *this, rewriter);
}

DiagnosedSilenceableFailure transform::FadSplitOp::applyToOne(
    TransformRewriter &rewriter, func::FuncOp target,
    ApplyToEachResultList &results, TransformState &) {
  if (!JointFunction::isJoint(target))
    return emitSilenceableError()
           << "@" << target.getSymName()
           << " is no joint function; transform.fad.differentiate makes one";
  HeldErrors errors(getContext());
  Extracted copy(target);
  FailureOr<NestedPair> pair =
      NestedPair::split(copy.getFunction(), getReuseResiduals());
  if (failed(pair))
    return fail(*this, target, "split", errors);
  results.push_back(pair->forward);
  results.push_back(pair->backward);
  return copy.moveBack({pair->forward, pair->backward}, *this, rewriter);
}

DiagnosedSilenceableFailure transform::FadNestOp::applyToOne(
    TransformRewriter &rewriter, func::FuncOp target,
    ApplyToEachResultList &results, TransformState &) {
  NestOptions options;
  auto read = readOptions(*this, target, options);
  if (!read.succeeded())
    return read;
  HeldErrors errors(getContext());
  Extracted copy(target);
  FailureOr<NestedPair> pair = NestedPair::create(copy.getModule(), options);
  if (failed(pair))
    return fail(*this, target, "nest", errors);
  results.push_back(pair->forward);
  results.push_back(pair->backward);
  return copy.moveBack({pair->forward, pair->backward}, *this, rewriter);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
class FadTransformOps
    : public transform::TransformDialectExtension<FadTransformOps> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FadTransformOps)

  void init() {
    declareGeneratedDialect<FadDialect>();
    declareGeneratedDialect<affine::AffineDialect>();
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<cf::ControlFlowDialect>();
    declareGeneratedDialect<func::FuncDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    declareGeneratedDialect<math::MathDialect>();
    declareGeneratedDialect<ml_program::MLProgramDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "fad/TransformOps/FadTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void fad::registerTransformOps(DialectRegistry &registry) {
  registry.addExtensions<FadTransformOps>();
}
