//===- Fork.h - Locks in a child of the process --------------- -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process that is forked, as a data loader's worker, has one thread of its
// parent, and the locks that the others held at that moment, which nobody
// returns. So a fork takes all locks of the process before, in the order in
// which threads do, and returns them in both processes. No owner of one waits
// for Python's lock, which a fork from Python holds. All are made where the
// library is loaded: a fork would wait for a thread that has some, and makes
// another one.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_FORK_H
#define FAD_EAGER_FORK_H

#include <cstdint>
#include <functional>
#include <mutex>

namespace fad::eager {

/// An owner of a lock waits for those of later ranks alone.
enum class Rank : uint8_t { Tensors, Copying, Readers, Operators, Others };

/// Functions of a fork by the current thread. The last one is for the child,
/// which has its locks still.
struct AtFork {
  std::function<void()> lock, unlock, inChild;
};
void atFork(Rank rank, AtFork functions);

/// A lock of the process, which is never freed.
class ProcessMutex : public std::mutex {
public:
  explicit ProcessMutex(Rank rank, std::function<void()> inChild = {});
};

/// The object of the process of a type with such locks.
template <typename T> struct OfProcess {
  /// Made by the first call, or where the library is loaded.
  static T &get() {
    (void)isMade;
    static T *made = new T();
    return *made;
  }

private:
  static inline const bool isMade = (get(), true);
};

} // namespace fad::eager

#endif // FAD_EAGER_FORK_H
