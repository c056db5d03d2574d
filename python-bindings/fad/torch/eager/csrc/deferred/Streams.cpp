//===- Streams.cpp - Where deferred sequences are computed ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Streams.h"
#include "deferred/Call.h"

namespace fad::eager {

std::optional<c10::Stream> getCurrentStream(c10::Device device) {
  if (device.is_cpu() || !c10::impl::hasDeviceGuardImpl(device.type()))
    return std::nullopt;
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

bool isCapturing(c10::Device device) {
  if (device.is_cpu() || device.type() != driver.type)
    return false;
  int answer = 0;
  TORCH_CHECK(
      !driver.isCapturing(getCurrentStream(device)->native_handle(), &answer),
      "fad.torch.nest: ", driver.getErrorMessage());
  return answer != 0;
}

OnRecordedStream::OnRecordedStream(const std::optional<c10::Stream> &recorded) {
  if (!recorded || getCurrentStream(recorded->device()) == recorded)
    return;
  TORCH_CHECK(!isCapturing(recorded->device()),
              "fad.torch.nest: a CUDA graph's capture reads a value of a "
              "sequence that was recorded on another stream and is not "
              "computed yet; read the value before, or leave nest()");
  guard.reset_stream(*recorded);
}

void OnRecordedStream::finish() {
  if (auto stream = guard.current_stream())
    stream->synchronize();
}

} // namespace fad::eager
