//===- Weak.h - Tensors that are referred to weakly -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collection of garbage frees a tensor that it has found to be Python's
// alone, and PyTorch aborts where the tensor has got another owner since. The
// collection may leave Python's lock to other threads meanwhile, for one while
// it frees the tensor before. A weak reference thus becomes a strong one in
// Python, while no thread collects.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_WEAK_H
#define FAD_EAGER_WEAK_H

#include <ATen/core/Tensor.h>

namespace fad::eager {

using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl>;

/// A tensor that is still there, or else undefined. May wait for Python's lock,
/// and so may the end of the result. Fails where that wait is interrupted, and
/// within a collection, in a finalizer: there, nobody knows whether a tensor
/// that is there is garbage.
at::Tensor lock(const WeakTensor &tensor);

/// A call of `lock`.
struct Lookup {
  const WeakTensor &tensor;
  at::Tensor found = {};
  bool isFinished = false, isInCollection = false;
};

/// A function of Python that calls `tryLock` until that returns true. No
/// exception of Python passes it: that leaves the lookup unfinished.
using Locker = void (*)(Lookup *lookup);
extern Locker locker;

/// Has Python's lock. False while another thread collects.
bool tryLock(Lookup &lookup);
/// Notes that this thread begins a collection, or that none is under way.
void noteCollection(bool isBeginning);

} // namespace fad::eager

#endif // FAD_EAGER_WEAK_H
