//===- Observer.h - Reports of sequences to Python --------------*- C++ -*-===//
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

#include "sequence/Value.h"

namespace fad::eager {

using Listener = void (*)(const char *event);

/// Tells this thread's operators to a function; to none, if it is null.
void setListener(Listener listener);

/// An operator that may be part of a sequence is left to PyTorch.
void observeLeft(const c10::OperatorName &op, std::string_view reason);

/// An operator that ends a sequence reads its value.
void observeReader(const c10::OperatorName &reader, const at::Tensor &value,
                   bool isSaved, bool isRecomputed);

} // namespace fad::eager

#endif // FAD_EAGER_OBSERVER_H
