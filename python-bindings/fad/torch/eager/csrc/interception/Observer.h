//===- Observer.h - What Python is told of sequences ----------- -*- C++
//-*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a report, Python is told of the operators of sequences and of their ends,
// as they occur. An event is JSON. It names tensors by their storages, or those
// that are computed late by themselves, each of which has an address of its own
// until the observer is removed.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_OBSERVER_H
#define FAD_EAGER_OBSERVER_H

#include "sequence/Operators.h"
#include "sequence/Value.h"

namespace fad::eager {

using Observer = void (*)(const char *event);

/// Tells this thread's operators to a function; to none, if it is null.
void setObserver(Observer observer);

/// A fad operator that is part of a sequence. `values` are those of the
/// operands at `positions`.
void observeOperator(const Operator &op, c10::ArrayRef<c10::IValue> arguments,
                     c10::ArrayRef<size_t> positions,
                     c10::ArrayRef<Value *> values, const at::Tensor &result);

/// What a finished sequence leaves.
void observeEnd(const at::Tensor &tensor, const Value &value,
                const Ending &ending, const Choice &choice);

/// An operator that may be part of a sequence is left to PyTorch.
void observeLeft(const c10::OperatorName &op, std::string_view reason);

/// An operator that ends a sequence reads its value.
void observeReader(const c10::OperatorName &reader, const at::Tensor &value,
                   bool isSaved, bool isRecomputed);

} // namespace fad::eager

#endif // FAD_EAGER_OBSERVER_H
