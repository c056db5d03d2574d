//===- MemoryReport.cpp - Residuals and reasons ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Pipelines/MemoryReport.h"
#include "fad/Analysis/PeakMemory.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

std::optional<uint64_t>
ArgumentSizes::lookup(const SizeSymbols::Symbol &symbol) const {
  if (!symbol.argumentDim)
    return std::nullopt;
  auto found = ofDims.find(*symbol.argumentDim);
  return found == ofDims.end() ? others : found->second;
}

StringRef fad::stringifyResidualKind(ResidualKind kind) {
  switch (kind) {
  case ResidualKind::argument:
    return "argument";
  case ResidualKind::result:
    return "result";
  case ResidualKind::derivative:
    return "derivative";
  case ResidualKind::size:
    return "size";
  case ResidualKind::value:
    return "value";
  }
  return "";
}

std::optional<SizeExpr> ValueSizes::getBytes(Value value) {
  std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
  if (!bytes)
    return std::nullopt;
  return symbols.substitute(*bytes, [&](const SizeSymbols::Symbol &symbol) {
    return given.lookup(symbol);
  });
}

std::string ValueSizes::toString(const SizeExpr &expr) const {
  std::string result;
  llvm::raw_string_ostream os(result);
  expr.print(os, [&](unsigned symbol) { return symbols.getName(symbol); });
  return result;
}

//===----------------------------------------------------------------------===//
// From IR
//===----------------------------------------------------------------------===//

/// Whether `name` is that of an activation function: an elementwise function of
/// one tensor that is no part of normalizations and softmax.
static bool isActivation(StringRef name) {
  auto [dialect, operation] = name.split('.');
  if (dialect == FadDialect::getDialectNamespace())
    return true;
  return dialect == "math" &&
         !llvm::is_contained({"exp", "exp2", "expm1", "log", "log1p", "log2",
                              "sqrt", "rsqrt", "powf", "fpowi", "fma"},
                             operation);
}

FailureOr<SizeExpr> MemoryReport::getBytes(Value value, Operation *reader) {
  std::optional<SizeExpr> bytes = sizes.getBytes(value);
  if (!bytes)
    return reader->emitError()
           << "cannot tell how many bytes a value of type " << value.getType()
           << " takes; tensors must be ranked, and elements integers, "
              "floating-point numbers, index, or complex numbers or fixed "
              "vectors of them";
  return *bytes;
}

FailureOr<ValueInfo> MemoryReport::describe(Value value, Operation *reader) {
  FailureOr<SizeExpr> bytes = getBytes(value, reader);
  if (failed(bytes))
    return failure();
  ValueInfo info;
  info.type = value.getType();
  info.bytes = *bytes;
  if (Operation *def = value.getDefiningOp())
    info.operation = def->getName().getStringRef();
  info.location = describeLocation(value.getLoc());
  return info;
}

FailureOr<ResidualInfo> MemoryReport::describe(const KeptValue &kept) {
  ResidualOp residual = kept.residuals.front();
  ResidualInfo info;
  info.kind = kept.kind;
  info.type = residual.getType();
  if (Operation *def = kept.value.getDefiningOp())
    info.operation = def->getName().getStringRef();
  info.location = describeLocation(kept.value.getLoc());
  info.bits = kept.bits;
  info.layer = kept.layer;
  llvm::SetVector<StringRef> readers;
  for (ResidualOp op : kept.residuals)
    for (StringRef name : op.getNeededBy().getAsValueRange<StringAttr>())
      readers.insert(name);
  for (StringRef name : readers) {
    info.neededBy.push_back(name.str());
    info.isOfActivation |= isActivation(name);
  }
  if (kept.kind == ResidualKind::argument ||
      kept.kind == ResidualKind::result) {
    info.reason = (stringifyResidualKind(kept.kind) + ": alive anyway").str();
    return info;
  }
  info.reason = residual.getReason();
  if (std::optional<APFloat> error = residual.getLargestError())
    info.largestError = error->convertToDouble();
  if (std::optional<APFloat> error = residual.getMeanSquareError())
    info.meanSquareError = error->convertToDouble();
  FailureOr<SizeExpr> bytes = getBytes(residual.getValue(), residual);
  if (failed(bytes))
    return failure();
  info.bytes = *bytes;
  info.isRefused = kept.refusal.has_value();
  if (kept.refusal && kept.refusal->cause == Refusal::Cause::level)
    info.allowedBy = kept.refusal->allowedBy;
  for (Value value : kept.insteadOf) {
    FailureOr<ValueInfo> other = describe(value, residual);
    if (failed(other))
      return failure();
    info.insteadOf.push_back(*other);
  }
  auto next = info.insteadOf.begin();
  info.because = explain(kept, [&](Value) {
    const ValueInfo &other = *next++;
    return toString(other.bytes) + " bytes of " + other.operation;
  });
  return info;
}

FailureOr<RecomputedInfo> MemoryReport::describe(const RepeatedWork &work) {
  RecomputedInfo info;
  info.operation = work.op->getName().getStringRef();
  info.location = describeLocation(work.op->getLoc());
  info.time = work.time / 8;
  // A kernel whose results all depend on a cotangent has the size of those.
  info.type = work.op->getResult(0).getType();
  for (Value value : work.results) {
    info.type = value.getType();
    FailureOr<SizeExpr> bytes = getBytes(value, work.op);
    if (failed(bytes))
      return failure();
    info.bytes += *bytes;
  }
  return info;
}

FailureOr<PolicyReport *> MemoryReport::add(func::FuncOp function,
                                            const SelectionOptions &options) {
  FailureOr<JointFunction> joint = JointFunction::get(function);
  if (failed(joint))
    return failure();
  // Those of an earlier function may be gone.
  sizes.symbols.forgetValues();
  Explanation explanation = explainResiduals(*joint, options);
  PolicyReport &result = policies.emplace_back();
  result.policy = options.policy;
  for (const KeptValue &kept : explanation.kept) {
    FailureOr<ResidualInfo> info = describe(kept);
    if (failed(info))
      return failure();
    result.total += info->bytes;
    if (result.total.isSaturated())
      return kept.residuals.front()->emitError(
                 "what is kept takes 2^64 bytes or more; give smaller sizes"),
             failure();
    result.residuals.push_back(std::move(*info));
  }
  return &result;
}

LogicalResult MemoryReport::addRepeated(PolicyReport &report,
                                        func::FuncOp forward,
                                        func::FuncOp backward,
                                        const SelectionOptions &options) {
  // The values of the joint function are gone.
  sizes.symbols.forgetValues();
  for (auto [argument, source] : llvm::zip_equal(
           backward.getArguments(), getBackwardSources(forward, backward)))
    sizes.symbols.bind(argument, source);
  auto sizeOf = [&](const SizeSymbols::Symbol &symbol) {
    return sizes.given.lookup(symbol).value_or(options.assumedSize);
  };
  for (const RepeatedWork &work :
       findRepeatedWork(forward, backward, options.target, sizeOf)) {
    FailureOr<RecomputedInfo> info = describe(work);
    if (failed(info))
      return failure();
    report.recomputeTime += info->time;
    report.recomputed.push_back(std::move(*info));
  }
  return success();
}
