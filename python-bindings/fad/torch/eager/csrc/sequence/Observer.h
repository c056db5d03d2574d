//===- Observer.h - Who is told of sequences --------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_SEQUENCEOBSERVER_H
#define FAD_EAGER_SEQUENCEOBSERVER_H

#include "sequence/OperatorCall.h"

namespace fad::eager {

/// Receives the events of a thread's sequences as they are made.
class Observer {
public:
  /// A fad operator is part of a sequence.
  virtual void onOperator(const Call &call, const at::Tensor &result) = 0;
  /// A finished sequence leaves something for backward.
  virtual void onEnd(const at::Tensor &tensor, const Value &value,
                     const Ending &ending, const Choice &choice) = 0;

protected:
  ~Observer() = default;
};

/// The thread's; there is one where `isObserved()`.
inline thread_local Observer *observer = nullptr;

} // namespace fad::eager

#endif // FAD_EAGER_SEQUENCEOBSERVER_H
