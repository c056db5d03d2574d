//===- Encoding.cpp - Residuals in few bits -------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Encoding.h"
#include "fad/Analysis/FiniteValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fad;

std::optional<Encoding> fad::findEncoding(Value tensor) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return std::nullopt;
  Type type = getElementTypeOrSelf(tensor);
  Builder builder(tensor.getContext());
  if (type.isInteger(1))
    return Encoding{{builder.getBoolAttr(false), builder.getBoolAttr(true)}};
  auto op = tensor.getDefiningOp<ElementwiseOp>();
  if (!op || !type.isIntOrFloat())
    return std::nullopt;
  std::optional<SmallVector<Attribute>> levels = findFiniteValues(
      op.getYield().getOperand(cast<OpResult>(tensor).getResultNumber()));
  if (!levels)
    return std::nullopt;
  Encoding encoding{std::move(*levels)};
  return encoding.getBits() < type.getIntOrFloatBitWidth()
             ? std::optional(encoding)
             : std::nullopt;
}

/// Whether `element` is `level`: in all its bits, but for a NaN, which may have
/// others where it was computed.
static Value isLevel(ImplicitLocOpBuilder &b, Value element, Attribute level) {
  auto number = dyn_cast<FloatAttr>(level);
  if (number && number.getValue().isNaN())
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, element,
                                 element);
  auto bits = dyn_cast<IntegerAttr>(level);
  if (number) {
    Type type = b.getIntegerType(element.getType().getIntOrFloatBitWidth());
    element = arith::BitcastOp::create(b, type, element);
    bits = b.getIntegerAttr(type, number.getValue().bitcastToAPInt());
  }
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, element,
                               arith::ConstantOp::create(b, bits));
}

/// `last` where no condition holds, else the choice of the first that does.
static Value select(ImplicitLocOpBuilder &b, size_t numChoices,
                    function_ref<Value(size_t)> condition,
                    function_ref<TypedAttr(size_t)> choice) {
  Value result = arith::ConstantOp::create(b, choice(numChoices - 1));
  for (size_t number = numChoices - 1; number-- > 0;) {
    Value chosen = arith::ConstantOp::create(b, choice(number));
    result = arith::SelectOp::create(b, condition(number), chosen, result);
  }
  return result;
}

Value fad::encode(OpBuilder &builder, Value tensor, const Encoding &encoding) {
  ImplicitLocOpBuilder b(tensor.getLoc(), builder);
  auto getNumber = [&](size_t number) { return b.getI8IntegerAttr(number); };
  auto codes = ElementwiseOp::create(
      b, tensor, [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, inside);
        auto isNumber = [&](size_t number) {
          return isLevel(inner, arguments[0], encoding.levels[number]);
        };
        return SmallVector<Value>{
            select(inner, encoding.levels.size(), isNumber, getNumber)};
      });
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t size =
      type.hasStaticShape()
          ? llvm::divideCeil(type.getNumElements() * encoding.getBits(), 8)
          : ShapedType::kDynamic;
  return PackOp::create(b, RankedTensorType::get(size, b.getI8Type()),
                        codes.getResult(0), encoding.getBits());
}

Value fad::decode(OpBuilder &builder, Location loc, Value bytes,
                  RankedTensorType type, ValueRange sizes,
                  const Encoding &encoding) {
  ImplicitLocOpBuilder b(loc, builder);
  Value codes = UnpackOp::create(b, type.clone(b.getI8Type()), bytes, sizes,
                                 encoding.getBits());
  auto getLevel = [&](size_t number) {
    return cast<TypedAttr>(encoding.levels[number]);
  };
  auto decoded = ElementwiseOp::create(
      b, codes, [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, inside);
        auto isNumber = [&](size_t number) {
          return isLevel(inner, arguments[0], inner.getI8IntegerAttr(number));
        };
        return SmallVector<Value>{
            select(inner, encoding.levels.size(), isNumber, getLevel)};
      });
  return decoded.getResult(0);
}
