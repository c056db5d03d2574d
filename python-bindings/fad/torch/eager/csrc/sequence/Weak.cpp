//===- Weak.cpp - Tensors that are referred to weakly ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Weak.h"
#include <thread>

namespace fad::eager {

Locker locker = nullptr;

/// The thread that collects, or none. Python's lock protects it.
static std::thread::id collecting;

void noteCollection(bool isBeginning) {
  collecting = isBeginning ? std::this_thread::get_id() : std::thread::id();
}

bool tryLock(const WeakTensor &tensor, at::Tensor &found) {
  if (collecting == std::this_thread::get_id())
    return true;
  if (collecting != std::thread::id())
    return false;
  if (auto strong = tensor.lock())
    found = at::Tensor(std::move(strong));
  return true;
}

at::Tensor lock(const WeakTensor &tensor) {
  at::Tensor found;
  if (!tensor.expired())
    locker(&tensor, &found);
  return found;
}

} // namespace fad::eager
