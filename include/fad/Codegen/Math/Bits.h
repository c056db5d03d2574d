//===- Bits.h - Floats as integers ------------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_MATH_BITS_H
#define FAD_CODEGEN_MATH_BITS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fad {

/// `element` in the shape of `type`, a scalar or a vector.
inline Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.clone(element) : element;
}

/// The i32, or vector of it, with the bits of an f32, and the other way round.
inline Value toBits(ImplicitLocOpBuilder &b, Value number) {
  Type type = withElement(number.getType(), b.getI32Type());
  return arith::BitcastOp::create(b, type, number);
}
inline Value fromBits(ImplicitLocOpBuilder &b, Value bits) {
  Type type = withElement(bits.getType(), b.getF32Type());
  return arith::BitcastOp::create(b, type, bits);
}

/// `integer` in `type`, i32 or a vector of it.
inline Value constantBits(ImplicitLocOpBuilder &b, Type type, int32_t integer) {
  TypedAttr attr = b.getI32IntegerAttr(integer);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, cast<Attribute>(attr));
  return arith::ConstantOp::create(b, attr);
}

/// `OpTy` applied to `bits` and `integer`.
template <typename OpTy>
Value combine(ImplicitLocOpBuilder &b, Value bits, int32_t integer) {
  return OpTy::create(b, bits, constantBits(b, bits.getType(), integer));
}

} // namespace mlir::fad

#endif // FAD_CODEGEN_MATH_BITS_H
