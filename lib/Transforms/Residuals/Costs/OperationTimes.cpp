//===- OperationTimes.cpp - Estimated times of operations -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates the time of an operation: the arithmetic of an iteration, by the
// table of the target, times the iterations. An operation that does not fuse
// with its readers also has the time of the bytes that it moves. Sizes are
// evaluated as formulas in the sizes of arguments.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/OperationTimes.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Kinds of operations
//===----------------------------------------------------------------------===//

bool fad::isElementwise(Operation *op) {
  if (isa<ElementwiseOp>(op) || OpTrait::hasElementwiseMappableTraits(op))
    return true;
  if (auto opaque = dyn_cast<OpaqueOp>(op))
    return opaque.getKind() == OpaqueKind::elementwise;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.hasPureTensorSemantics() &&
         structured.getNumReductionLoops() == 0;
}

/// Whether `op` computes more than it reads: it sums products, and reads some
/// elements more than once.
static bool isContraction(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return false;
  if (linalg::isaContractionOpInterface(op))
    return true;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  unsigned numRead = 0;
  bool readsEachIteration = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.payloadUsesValueFromOperand(input))
      continue;
    ++numRead;
    readsEachIteration |=
        mentionsAllLoops(op.getMatchingIndexingMap(input), ranges);
  }
  // A window operation that compares its operands sums no products; its
  // products of indices compute positions in the window.
  auto isProduct = [](Operation &inner) {
    return isa<arith::MulFOp, arith::MulIOp>(inner) &&
           !inner.getResult(0).getType().isIndex();
  };
  return !readsEachIteration ||
         (numRead > 1 && linalg::isaConvolutionOpInterface(op) &&
          (!isa<linalg::GenericOp>(op) ||
           llvm::any_of(*op.getBlock(), isProduct)));
}

bool fad::hasContraction(Operation *op) {
  return op
      ->walk([](linalg::LinalgOp nested) {
        return isContraction(nested) ? WalkResult::interrupt()
                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

uint64_t OperationTimes::evaluate(const SizeExpr &expr) {
  auto lookup = [&](const SizeSymbols::Symbol &symbol) {
    return std::optional(sizeOf(symbol));
  };
  return *symbols.substitute(expr, lookup).getConstant();
}

std::optional<int64_t> OperationTimes::getBytes(Value value) {
  auto [it, isNew] = bytesOf.try_emplace(value);
  if (!isNew)
    return it->second;
  std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
  if (!bytes)
    return std::nullopt;
  return bytesOf[value] = std::min<uint64_t>(evaluate(*bytes), kUnknownBytes);
}

int64_t OperationTimes::getElements(Value tensor) {
  Type element = getElementTypeOrSelf(tensor);
  std::optional<int64_t> bytes = getBytes(tensor);
  return bytes ? *bytes / std::max<int64_t>(1, *getScalarBytes(element)) : 0;
}

/// Whether `op` reads at most one element of `operand`, at computed indices or
/// in a slice, in each of its iterations.
static bool picksElements(Operation *op, Value operand) {
  return isa<RankedTensorType>(operand.getType()) &&
         (isa<tensor::ExtractSliceOp, tensor::ExtractOp>(op) ||
          !llvm::is_contained(op->getOperands(), operand));
}

OperationTimes::Extent OperationTimes::getExtent(Operation *op) {
  int64_t elements = 0;
  Extent extent;
  auto count = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    elements = std::max(elements, getElements(value));
    extent.traffic += getBytes(value).value_or(0);
  };
  SmallVector<Value> picked;
  forEachReadOperand(op, [&](Value operand) {
    if (picksElements(op, operand))
      picked.push_back(operand);
    else
      count(operand);
  });
  llvm::for_each(op->getResults(), count);
  for (Value tensor : picked) {
    int64_t bytes = getBytes(tensor).value_or(0);
    int64_t all = std::max<int64_t>(1, getElements(tensor));
    extent.traffic += Cost::Count(bytes / all) * std::min(all, elements);
  }
  extent.iterations = elements;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !isContraction(structured))
    return extent;
  extent.iterations = 1;
  for (auto [loop, size] : llvm::enumerate(structured.getStaticLoopRanges())) {
    Value operand;
    unsigned dim = 0;
    if (!ShapedType::isDynamic(size))
      extent.iterations *= size;
    else if (succeeded(structured.mapIterationSpaceDimToOperandDim(
                 loop, operand, dim)))
      extent.iterations *= evaluate(symbols.getDimSize(operand, dim));
  }
  return extent;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

Cost::Count OperationTimes::getTime(Operation *op) {
  if (isView(op))
    return 0;
  Extent extent = getExtent(op);
  Cost::Count time = getArithmeticTime(op, times) * extent.iterations;
  if (auto opaque = dyn_cast<OpaqueOp>(op))
    time += opaque.getTime();
  return isElementwise(op) ? time : time + 8 * extent.traffic;
}

Cost::Count OperationTimes::getTimeInBody(Operation *op,
                                          ArrayRef<Operation *> inner,
                                          const TargetTimes &ofElement) {
  int64_t time = 0;
  for (Operation *each : inner)
    time += getArithmeticTime(each, ofElement);
  return time == 0 ? Cost::Count(0) : time * getExtent(op).iterations;
}
