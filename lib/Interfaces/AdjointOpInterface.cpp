//===- AdjointOpInterface.cpp - Adjoints of operations --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/AdjointOpInterface.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::fad;

#include "fad/Interfaces/AdjointOpInterface.cpp.inc"

Value fad::makeZeros(OpBuilder &builder, Location loc,
                     ArrayRef<OpFoldResult> sizes, Type elementType,
                     Attribute encoding) {
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(elementType));
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, elementType, encoding);
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

Value fad::makeZerosLike(OpBuilder &builder, Location loc, Value like) {
  if (auto type = dyn_cast<RankedTensorType>(like.getType()))
    return makeZeros(builder, loc, tensor::getMixedSizes(builder, loc, like),
                     type.getElementType(), type.getEncoding());
  return arith::ConstantOp::create(builder, loc,
                                   builder.getZeroAttr(like.getType()));
}

Value fad::sumElements(OpBuilder &b, Location loc, Value terms, Type type) {
  Type sumType = getTangentType(type);
  Value init = makeZeros(b, loc, {}, sumType);
  int64_t rank = cast<RankedTensorType>(terms.getType()).getRank();
  SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(rank),
                                 AffineMap::get(rank, 0, b.getContext())};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::reduction);
  auto add = [&](OpBuilder &inside, Location loc, ValueRange arguments) {
    ExprBuilder eb(inside, loc, sumType);
    Expr sum =
        convert(Expr(eb, arguments[0]), sumType) + Expr(eb, arguments[1]);
    linalg::YieldOp::create(inside, loc, sum.getValue());
  };
  auto sum = linalg::GenericOp::create(b, loc, init.getType(), terms, init,
                                       maps, iterators, add);
  Value element = tensor::ExtractOp::create(b, loc, sum.getResult(0));
  ExprBuilder eb(b, loc, type);
  return convert(Expr(eb, element), type).getValue();
}

void AdjointBuilder::addCotangents(ValueRange values,
                                   ArrayRef<Value> cotangents) {
  for (auto [value, cotangent] : llvm::zip_equal(values, cotangents))
    if (cotangent)
      addCotangent(value, cotangent);
}

LogicalResult
AdjointBuilder::checkCaptures(Operation *op,
                              llvm::function_ref<bool(OpOperand &)> isCovered) {
  LogicalResult valid = success();
  visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *operand) {
    Operation *reader = operand->getOwner();
    if (failed(valid) || !isVaried(operand->get()) ||
        isa<tensor::DimOp>(reader) || (isCovered && isCovered(*operand)))
      return;
    valid = reader->emitOpError("reads ")
            << operand->get().getType()
            << " on the path that is differentiated from inside '"
            << op->getName()
            << "', which has reverse rules for its operands only; make it an "
               "operand";
  });
  return valid;
}

LogicalResult AdjointBuilder::finishRegions(Operation *adjoint) {
  (void)runRegionDCE(rewriter, adjoint->getRegions());
  bool valid = true;
  adjoint->walk([&](Operation *nested) {
    if (nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(nested))
      return;
    valid = false;
    nested->emitOpError("has side effects, but what it computes is needed "
                        "again in backward; move it out of '")
        << adjoint->getName() << "'";
  });
  return success(valid);
}

LogicalResult fad::detail::buildFromPullbacks(Operation *op,
                                              AdjointBuilder &adjoint,
                                              ValueRange cotangents) {
  if (failed(adjoint.checkCaptures(op)))
    return failure();
  auto model = cast<AdjointOpInterface>(op);
  SmallVector<Value> operands(op->getNumOperands());
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    if (!adjoint.isVaried(operand))
      continue;
    FailureOr<Value> cotangent =
        model.pullback(adjoint.rewriter, cotangents, index);
    if (failed(cotangent))
      return failure();
    operands[index] = *cotangent;
  }
  adjoint.addCotangents(op->getOperands(), operands);
  return success();
}
