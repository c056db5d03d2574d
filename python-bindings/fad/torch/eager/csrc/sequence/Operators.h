//===- Operators.h - The operators that sequences consist of ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_OPERATORS_H
#define FAD_EAGER_OPERATORS_H

#include "machine/StateMachine.h"
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/operator_name.h>
#include <c10/util/SmallVector.h>

namespace fad::eager {

/// The form of an operator's operands.
enum class Form : uint8_t {
  /// One tensor, and numbers that are no operands.
  Unary,
  /// The tensor in another type.
  Cast,
  /// The tensor over its rows' deviations, times a weight, plus a bias. Further
  /// results are statistics.
  Normalize,
  /// self + alpha * other
  Add,
  /// self - alpha * other
  Subtract,
  /// other - alpha * self
  Reverse,
  Multiply,
  Divide
};

/// The derivative of an operator as a function of its result y, where that is a
/// polynomial: y (1 - y), 1 - y^2, and y.
enum class Slope : uint8_t { Unknown, Sigmoid, Tanh, Exp };

/// The numbers of an operator besides its tensors.
enum class Numbers : uint8_t { Others, Bounds, Exponent };

/// A fad operator of PyTorch: a row of the table in fad/_operators/table.py,
/// from which `_header.py` makes Operators.inc.
struct Operator {
  const char *name; ///< as in "add.Tensor"
  Form form;
  Kind kind;
  Saves saves; ///< what its backward function needs
  Slope slope;
  Numbers numbers;

  /// Whether this is a sum, whose third argument is a factor of the second.
  bool isSum() const {
    return form == Form::Add || form == Form::Subtract || form == Form::Reverse;
  }
};

/// All of them.
c10::ArrayRef<Operator> operators();

/// An activation that writes to its operand, by the name of the one that does
/// not.
struct InPlaceOperator {
  const char *name;
  /// Tensors that PyTorch's node saves: a copy of the operand from before, or
  /// the result, which takes no memory of its own.
  Saves saves;
};

c10::ArrayRef<InPlaceOperator> inPlaceOperators();

/// Whether a name of PyTorch's, as "aten::silu_", is one of them.
bool isInPlaceOperator(const c10::OperatorName &name);

/// Whether fad has kernels of powers with an exponent.
bool isKernelExponent(double value);

/// PyTorch's operator of a name such as "add.Tensor".
c10::OperatorHandle findHandle(const char *name);

/// The fad operator of one of PyTorch's, or null.
const Operator *findOperator(const c10::OperatorHandle &op);

/// The kind of an operator for given arguments and the positions of its
/// differentiable operands: a product with a number is linear.
struct Use {
  Kind kind;
  /// Of a linear operator, what each operand is multiplied by.
  double factors[2];
  /// Values that its node needs; nothing, if it is linear.
  Saves saves;
  /// The type of the result; whether a differentiable operand has another one,
  /// or another shape.
  c10::ScalarType type = c10::ScalarType::Undefined;
  bool rounds = false, sums = false;
};
/// The type of the result, where an operator with the given arguments can be
/// part of a sequence; `Undefined` where it cannot.
c10::ScalarType findType(const Operator &op,
                         c10::ArrayRef<c10::IValue> arguments);

Use classify(const Operator &op, c10::ArrayRef<c10::IValue> arguments,
             c10::ArrayRef<size_t> positions);

/// Facts about an operator that ends sequences.
struct Reader {
  struct Saved {
    size_t position, other;
  };
  /// Arguments that its node saves in a way that a recomputed value can
  /// replace, where the gradient of the other is needed.
  c10::SmallVector<Saved, 2> saved = {};
  /// Whether its result is a view that stands for the whole tensor.
  bool isView = false;

  bool saves(size_t position, c10::ArrayRef<c10::IValue> arguments) const;
};

/// The same of every operator of which nothing is known.
const Reader &findReader(const c10::OperatorHandle &op);

} // namespace fad::eager

#endif // FAD_EAGER_OPERATORS_H
