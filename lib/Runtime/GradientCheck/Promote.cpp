//===- Promote.cpp - Compute in f64 ---------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADPROMOTE
#include "fad/Runtime/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;

/// Whether `type` is a floating-point type all values of which are in f64.
static bool isNarrow(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && floatType.getWidth() < 64;
}

static bool hasNarrowElements(Type type) {
  return isNarrow(getElementTypeOrSelf(type));
}

static bool mentionsNarrow(Type type) {
  return type
      .walk([](Type nested) {
        return isNarrow(nested) ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The value of a float attribute in f64, exactly.
static APFloat widen(const APFloat &value) {
  APFloat wide = value;
  bool losesInfo;
  (void)wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                     &losesInfo);
  return wide;
}

//===----------------------------------------------------------------------===//
// Unsupported programs
//===----------------------------------------------------------------------===//

/// Fails, with an error at `op`, if `attribute` holds narrow numbers in a form
/// without a conversion.
static LogicalResult checkConstant(Operation *op, Attribute attribute) {
  auto elements = dyn_cast<ElementsAttr>(attribute);
  if (!elements)
    return success();
  ShapedType type = elements.getShapedType();
  if (!mentionsNarrow(type) || isa<DenseFPElementsAttr>(attribute))
    return success();
  auto resource = dyn_cast<DenseResourceElementsAttr>(attribute);
  if (!resource)
    return op->emitOpError("has a constant of type ")
           << type
           << " that fad-promote cannot compute in f64; write it as dense<...>";
  bool splat;
  if (!hasNarrowElements(type) ||
      !DenseElementsAttr::isValidRawBuffer(type, resource.getData(), splat))
    return op->emitOpError("has a constant of type ")
           << type << " whose resource '" << resource.getRawHandle().getKey()
           << "' has " << resource.getData().size()
           << " bytes, which is not what that type takes; add the data to "
              "the dialect_resources of the file";
  return success();
}

/// Fails, with an error, if the meaning of `op` differs in f64.
static LogicalResult checkOperation(Operation *op) {
  if (isa<arith::BitcastOp, tensor::BitcastOp, vector::BitCastOp>(op) &&
      hasNarrowElements(op->getOperand(0).getType()) !=
          hasNarrowElements(op->getResult(0).getType()))
    return op->emitOpError("reads or makes the bits of ")
           << op->getOperand(0).getType() << " as "
           << op->getResult(0).getType()
           << ", which f64 does not have; express the operation in arithmetic "
              "to compute it in f64";
  if (auto function = dyn_cast<FunctionOpInterface>(op);
      function && function.isExternal() &&
      mentionsNarrow(function.getFunctionType()))
    return op->emitOpError("has no body that could be computed in f64; "
                           "give it one, or inline its calls");
  bool valid = true;
  for (NamedAttribute attribute : op->getAttrs())
    attribute.getValue().walk([&](Attribute nested) {
      valid &= succeeded(checkConstant(op, nested));
    });
  return success(valid);
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

static Attribute promote(DenseFPElementsAttr elements, Type f64) {
  return elements.mapValues(
      f64, [](const APFloat &value) { return widen(value).bitcastToAPInt(); });
}

static void addReplacements(AttrTypeReplacer &replacer, MLIRContext *context) {
  Type f64 = Float64Type::get(context);
  using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
  replacer.addReplacement([=](FloatType type) -> std::optional<Type> {
    return isNarrow(type) ? std::optional<Type>(f64) : std::nullopt;
  });
  replacer.addReplacement([=](FloatAttr attribute) -> Replaced {
    if (!isNarrow(attribute.getType()))
      return std::nullopt;
    return {
        {FloatAttr::get(f64, widen(attribute.getValue())), WalkResult::skip()}};
  });
  replacer.addReplacement([=](DenseFPElementsAttr elements) -> Replaced {
    if (!isNarrow(elements.getElementType()))
      return std::nullopt;
    return {{promote(elements, f64), WalkResult::skip()}};
  });
  replacer.addReplacement([=](DenseResourceElementsAttr resource) -> Replaced {
    ShapedType type = resource.getType();
    if (!isNarrow(type.getElementType()))
      return {{resource, WalkResult::skip()}};
    auto elements = cast<DenseFPElementsAttr>(
        DenseElementsAttr::getFromRawBuffer(type, resource.getData()));
    return {{promote(elements, f64), WalkResult::skip()}};
  });
  // Operations define the element type of their array attributes.
  replacer.addReplacement([](DenseArrayAttr array) -> Replaced {
    return {{array, WalkResult::skip()}};
  });
}

namespace {
struct FadPromotePass : fad::impl::FadPromoteBase<FadPromotePass> {
  using FadPromoteBase::FadPromoteBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool valid = true;
    module.walk([&](Operation *op) { valid &= succeeded(checkOperation(op)); });
    if (!valid)
      return signalPassFailure();

    AttrTypeReplacer replacer;
    addReplacements(replacer, &getContext());
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    module.walk([](Operation *op) {
      if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
          op->getOperand(0).getType() != op->getResult(0).getType())
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    });
  }
};
} // namespace
