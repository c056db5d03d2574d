//===- Streams.h - Where deferred sequences are computed --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eager PyTorch puts an operator on the stream that is current when it is
// called. What is computed late is put there, too: that stream has the operands
// in order. What the program did to order other streams may have come before;
// so they wait where they read the value, or write to what is in the mode.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_STREAMS_H
#define FAD_EAGER_STREAMS_H

#include "sequence/ReadMemory.h"
#include <ATen/core/Tensor.h>
#include <atomic>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <mutex>
#include <optional>

namespace fad::eager {

/// Whether what is put on the current stream becomes a part of a CUDA graph.
bool isCapturing(c10::Device device);
/// The same of the current stream, or of the one on which a sequence was
/// recorded.
bool isCapturing(const std::optional<c10::Stream> &recorded);

/// While it lives, work goes to the stream on which a sequence was recorded.
/// Fails within a capture, which that work would miss, or be a part of.
class OnRecordedStream {
public:
  explicit OnRecordedStream(const std::optional<c10::Stream> &recorded);

private:
  c10::OptionalStreamGuard guard;
};

/// Work given to a stream until a sequence was computed there.
class LateWork {
public:
  /// Notes that what the stream has been given so far is the work.
  static std::shared_ptr<LateWork> record(c10::Stream stream);
  /// Lets the current stream wait for the work, if it is another one. Within a
  /// capture, which a program begins when the device has no work left, it does
  /// not.
  void wait();
  /// Lets it wait for the last work of each stream of the device.
  static void waitForAll(c10::Device device);

  /// Whether there was any, in the process.
  static std::atomic<bool> exists;

private:
  explicit LateWork(c10::Stream stream);

  const c10::Stream stream;
  c10::Event event;
  std::mutex mutex;
  /// The streams that have waited, and their later work with them.
  std::vector<c10::Stream> waited;
};

/// Keeps memory of a tensor, once that is freed, until the stream has done what
/// it has been given: the allocator may know of another stream only.
void recordUse(const at::Tensor &tensor, c10::Stream stream);

} // namespace fad::eager

#endif // FAD_EAGER_STREAMS_H
