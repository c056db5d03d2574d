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

bool tryLock(Lookup &lookup) {
  lookup.isInCollection = collecting == std::this_thread::get_id();
  if (!lookup.isInCollection) {
    if (collecting != std::thread::id())
      return false;
    if (auto strong = lookup.tensor.lock())
      lookup.found = at::Tensor(std::move(strong));
  }
  return lookup.isFinished = true;
}

at::Tensor lock(const WeakTensor &tensor) {
  if (tensor.expired())
    return {};
  Lookup lookup = {tensor};
  locker(&lookup);
  TORCH_CHECK(lookup.isFinished,
              "fad.torch.nest: the wait for the end of another thread's "
              "collection of garbage has been interrupted, and a sequence "
              "that reads a constant needs that");
  TORCH_CHECK(!lookup.isInCollection,
              "fad.torch.nest: a finalizer, within a collection of garbage, "
              "needs the graph of a sequence that reads a constant, and the "
              "constant may be garbage. Compute the sequence, or its "
              "gradient, outside of the finalizer.");
  return std::move(lookup.found);
}

} // namespace fad::eager
