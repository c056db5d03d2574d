//===- OperatorCall.h - An operator while it is executed --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_OPERATORCALL_H
#define FAD_EAGER_OPERATORCALL_H

#include "sequence/Operators.h"
#include "sequence/SequenceNode.h"

namespace fad::eager {

/// An operator while it is executed.
struct Call {
  const c10::OperatorHandle &op;
  const Operator &info;
  c10::ArrayRef<c10::IValue> arguments;
  /// The thread's, which are looked up once.
  const Options &mode = options;
  /// The differentiable operands: positions, and fad values or null.
  c10::SmallVector<size_t, 2> positions = {};
  c10::SmallVector<Value *, 2> values = {};
  /// Where their gradients go. Nothing else may refer to the node of a leaf
  /// yet. None of an operand that starts a sequence alone and at once: that is
  /// known when PyTorch has computed the result.
  c10::SmallVector<torch::autograd::Edge, 2> edges = {};
  c10::SmallVector<fad::eager::Operand, 2> known = {};
  Use use = {};
  /// The constants so far that no node saves in eager PyTorch.
  MemoriesPtr constants = {};
  Decision decision = {};
  /// Whether this is a cast to a wider type, whose result has the sum of its
  /// readers' gradients, as in eager PyTorch, and keeps nothing.
  bool widens = false;

  /// How many differentiable operands there are.
  size_t count() const { return positions.size(); }
  const at::Tensor &tensor(size_t i) const {
    return arguments[positions[i]].toTensor();
  }
  /// The operand that has the shape of the result; others may be broadcast.
  const at::Tensor &whole() const {
    size_t place = 0;
    for (size_t i = 1; i < count(); ++i)
      if (tensor(i).numel() > tensor(place).numel())
        place = i;
    return tensor(place);
  }
  /// PyTorch's node of the operator that is the derivative of an operand, or
  /// null.
  NodePtr own(size_t i) const {
    return values[i] ? values[i]->own() : NodePtr();
  }
  const Held &description(size_t i) const {
    static const Held ofSource;
    return values[i] ? values[i]->description() : ofSource;
  }
  /// The operand whose derivative an operator has: the first one where none
  /// has.
  size_t findOperator() const {
    bool isSecond = count() == 2 &&
                    description(0).form != Derivative::Operator &&
                    !description(0).isOneOperator &&
                    (description(1).form == Derivative::Operator ||
                     description(1).isOneOperator);
    return isSecond ? 1 : 0;
  }
};

/// A sequence ends after as many operators: what backward may run again is
/// bounded.
constexpr uint32_t maxLength = 128;

/// Sets the memory that is kept with a source.
void setMemory(Source &source, const at::Tensor &tensor);

/// Of a cast to a wider type, whose node has the given place: the source of
/// sequences that begin at its result, and the step.
void widen(const Call &call, Source place, Value &value);

/// The steps to the result.
StepPtr recordCall(const Call &call);
/// The edges to the sources of the result.
c10::SmallVector<torch::autograd::Edge, 2> findSources(const Call &call);
/// The edges to casts that operands have as sources, and the result does not,
/// as it has what these cast, and to values between both: no gradient goes
/// there.
c10::SmallVector<torch::autograd::Edge, 2> findJoined(const Call &call);

/// Finds the derivative of the result, of which the step may be null, but for
/// its node and its tensor.
void describeHeld(const Call &call, const StepPtr &step, Held &held);

/// Where a sequence that goes on from the value keeps the sources, so that what
/// one operator saved, or its bits, would be kept beside them, those sources
/// are chosen. A result waits for a reader, which may save it as well. Returns
/// the choice where the reader does not.
Choice chooseUnsaved(const Value &value, const Ending &ending, Choice &choice);

/// Marks the sources of a value at which another sequence begins.
void markShared(const Value &value, Sources &sources);
/// Counts that a sequence of these operators ends.
void countEnd(const StepPtr &steps, const Sources &sources);

/// The end of a sequence that waits for the reader: what is kept depends on
/// whether that saves the value, as an operator does.
struct Waiting {
  StepPtr steps;
  Ending ending;
  Choice choice; ///< where the reader has not saved it
};

/// Notes on a value what its sequence has left.
void end(const at::Tensor &tensor, Value &value, const Ending &ending,
         const Choice &choice);

} // namespace fad::eager

#endif // FAD_EAGER_OPERATORCALL_H
