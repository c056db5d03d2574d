//===- Movement.cpp - Operations that move elements -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Movement.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fad;

Movement fad::getMovement(Operation *op) {
  return llvm::TypeSwitch<Operation *, Movement>(op)
      .Case<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
            tensor::ReshapeOp>([](auto) { return Movement::reshape; })
      .Case<tensor::SplatOp, linalg::BroadcastOp, linalg::CopyOp,
            linalg::FillOp, linalg::TransposeOp>(
          [](auto) { return Movement::arrangement; })
      .Case<tensor::ConcatOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(
          [](auto) { return Movement::blocks; })
      .Case<tensor::PadOp>([](auto) { return Movement::border; })
      .Case<tensor::ExtractOp, tensor::FromElementsOp, tensor::GatherOp,
            tensor::GenerateOp, tensor::InsertOp, tensor::ScatterOp,
            linalg::PackOp, linalg::UnPackOp>(
          [](auto) { return Movement::elements; })
      .Case<OpaqueOp>([](OpaqueOp opaque) {
        return opaque.getKind() == OpaqueKind::view ? Movement::arrangement
                                                    : Movement::none;
      })
      .Default([](Operation *) { return Movement::none; });
}

Value fad::getMovedOperand(Operation *op) {
  if (!op)
    return {};
  Movement movement = getMovement(op);
  bool movesOne = movement == Movement::reshape ||
                  movement == Movement::arrangement ||
                  isa<tensor::ExtractSliceOp>(op);
  return movesOne ? op->getOperand(0) : Value();
}

Value fad::getViewedOperand(Operation *op) {
  if (!op)
    return {};
  bool isView = getMovement(op) == Movement::reshape ||
                isa<tensor::BitcastOp, tensor::ExtractSliceOp>(op);
  return isView ? op->getOperand(0) : Value();
}
