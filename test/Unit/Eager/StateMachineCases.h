//===- StateMachineCases.h - Operands of eager sequences ------- -*- C++
//-*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TEST_UNIT_EAGER_STATEMACHINECASES_H
#define FAD_TEST_UNIT_EAGER_STATEMACHINECASES_H

#include "machine/StateMachine.h"

namespace fad::eager {

inline const int nodes[8] = {};
inline Source node(int index) { return {&nodes[index], 0}; }
/// Values that are no fad tensors are their own sources.
inline Operand plain(int index) {
  return {node(index), false, {}, Derivative::Number, true};
}
inline Operand fadTensor(int index, Derivative derivative,
                         Sources sources = {node(0)},
                         bool isPiecewise = false) {
  return {node(index), true, std::move(sources), derivative, isPiecewise};
}

inline constexpr Kind kinds[] = {Kind::Other,     Kind::Linear,
                                 Kind::Piecewise, Kind::Product,
                                 Kind::Nonlinear, Kind::Rowwise};
inline constexpr Derivative derivatives[] = {
    Derivative::Number, Derivative::Operator, Derivative::Tensor,
    Derivative::Steps};

/// The transition of an operator whose values have one type and shape.
inline Decision decide(Policy policy, Kind kind, Operands operands) {
  return fad::eager::decide(policy, Operation{kind}, operands);
}

} // namespace fad::eager

#endif // FAD_TEST_UNIT_EAGER_STATEMACHINECASES_H
