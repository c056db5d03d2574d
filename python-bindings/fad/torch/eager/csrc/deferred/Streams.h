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
// in order, and its pool their memory.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_STREAMS_H
#define FAD_EAGER_STREAMS_H

#include <c10/core/StreamGuard.h>
#include <optional>

namespace fad::eager {

/// The current stream of a device, or none for the CPU.
std::optional<c10::Stream> getCurrentStream(c10::Device device);

/// Whether what is put on the current stream becomes a part of a CUDA graph.
bool isCapturing(c10::Device device);

/// While it lives, work goes to the stream on which a sequence was recorded.
class OnRecordedStream {
public:
  explicit OnRecordedStream(const std::optional<c10::Stream> &recorded);
  /// Where another stream was current: whoever goes on there has waited for the
  /// operators already, as far as the program can tell. So this waits.
  void finish();

private:
  c10::OptionalStreamGuard guard;
};

} // namespace fad::eager

#endif // FAD_EAGER_STREAMS_H
