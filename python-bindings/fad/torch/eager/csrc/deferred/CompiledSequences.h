//===- CompiledSequences.h - Kernels of sequences --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sequences that the process has met, by a text that says all that a kernel
// depends on, and the kernels that a thread of Python has compiled meanwhile.
// Nothing here knows tensors.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_COMPILEDSEQUENCES_H
#define FAD_EAGER_COMPILEDSEQUENCES_H

#include "deferred/Code.h"
#include "sequence/Fork.h"
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace fad::eager {

struct CompiledSequence {
  /// Whether the rest is there, and does not change any more.
  std::atomic<bool> isReady{false};
  /// Whether fad has no kernel of it.
  std::atomic<bool> isImpossible{false};
  /// The value, of sources, constants and numbers.
  Code value = 0;
  /// The value and the derivative, of the same; or 0.
  Code derivative = 0;
  /// The gradients of the sources; or 0. The arguments are those of `value`
  /// at `gradientArguments`, and the gradient of the value.
  Code gradient = 0;
  std::vector<int64_t> gradientArguments;

  int64_t sightings = 0;
};

class CompiledSequences {
public:
  static CompiledSequences &get();

  /// The entry of a sequence. It stays where it is. Null where there are too
  /// many.
  CompiledSequence *find(const std::string &key);
  /// Counts that the sequence was computed; from the second time on, and from
  /// the first if another process has met it, its kernels are asked for, once.
  void see(const std::string &key, CompiledSequence &sequence);
  /// Says of a sequence that an earlier process has met it. Its GPU, if any,
  /// has no number there: `auto Float 1 0 2 cuda`.
  void expect(const std::string &key);

  /// Waits for a sequence whose kernels are asked for. Empty once nobody asks
  /// for any more.
  std::string takeRequest();
  /// Ends all requests but those that have been taken, at the end of the
  /// process.
  void stop();
  /// Whether all kernels that were asked for are there, or cannot be.
  bool isIdle();
  /// Adds kernels of a sequence; none, if `value` is 0.
  void finish(const std::string &key, Code value, Code derivative,
              Code gradient, std::vector<int64_t> gradientArguments);
  int64_t countReady();

private:
  static constexpr size_t maxCount = 4096;

  void beginAgain();

  /// The thread that takes requests is not there in a child, which begins
  /// another one.
  ProcessMutex mutex{Rank::Others, [this] { beginAgain(); }};
  std::condition_variable wait;
  std::unordered_map<std::string, CompiledSequence> sequences;
  std::unordered_set<std::string> expected;
  std::deque<std::string> requests;
  int64_t open = 0, ready = 0;
  bool isStopped = false;
};

} // namespace fad::eager

#endif // FAD_EAGER_COMPILEDSEQUENCES_H
