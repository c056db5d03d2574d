//===- Streams.cpp - Where deferred sequences are computed ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Streams.h"
#include "deferred/Call.h"
#include "sequence/Fork.h"
#include <c10/core/DeviceGuard.h>
#include <unordered_map>

namespace fad::eager {

static bool isCaptured(c10::Stream stream) {
  // The driver is asked in the context of the device, not in one of another.
  c10::DeviceGuard guard(stream.device());
  int answer = 0;
  TORCH_CHECK(!driver.isCapturing(stream.native_handle(), &answer),
              "fad.torch.nest: ", driver.getErrorMessage());
  return answer != 0;
}

bool isCapturing(c10::Device device) {
  return !device.is_cpu() && device.type() == driver.type &&
         isCaptured(*getCurrentStream(device));
}

bool isCapturing(const std::optional<c10::Stream> &recorded) {
  if (!recorded || recorded->device_type() != driver.type)
    return false;
  return isCapturing(recorded->device()) ||
         (recorded != getCurrentStream(recorded->device()) &&
          isCaptured(*recorded));
}

OnRecordedStream::OnRecordedStream(const std::optional<c10::Stream> &recorded) {
  TORCH_CHECK(!isCapturing(recorded),
              "fad.torch.nest: a CUDA graph's capture reads the value of a "
              "sequence that began before it, or writes to what that reads; "
              "read the value before, or leave nest()");
  if (recorded && getCurrentStream(recorded->device()) != recorded)
    guard.reset_stream(*recorded);
}

std::atomic<bool> LateWork::exists{false};

namespace {
/// The last work of each stream.
struct LastWork {
  ProcessMutex mutex{Rank::Others};
  std::unordered_map<c10::Stream, std::shared_ptr<LateWork>> all;
};
} // namespace

static LastWork &lastWork() { return OfProcess<LastWork>::get(); }

LateWork::LateWork(c10::Stream stream)
    : stream(stream), event(stream.device_type()) {
  event.record(stream);
}

std::shared_ptr<LateWork> LateWork::record(c10::Stream stream) {
  std::shared_ptr<LateWork> work(new LateWork(stream)), before;
  auto &[mutex, all] = lastWork();
  std::lock_guard<std::mutex> lock(mutex);
  before = std::exchange(all[stream], work);
  exists = true;
  return work;
}

void LateWork::wait() {
  std::optional<c10::Stream> current = getCurrentStream(stream.device());
  if (current == stream)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (std::find(waited.begin(), waited.end(), *current) != waited.end() ||
      isCapturing(stream.device()))
    return;
  event.block(*current);
  waited.push_back(*current);
}

void LateWork::waitForAll(c10::Device device) {
  if (!exists || device.is_cpu())
    return;
  std::vector<std::shared_ptr<LateWork>> all;
  {
    std::lock_guard<std::mutex> lock(lastWork().mutex);
    for (const auto &[stream, work] : lastWork().all)
      if (stream.device() == device)
        all.push_back(work);
  }
  for (const auto &work : all)
    work->wait();
}

void recordUse(const at::Tensor &tensor, c10::Stream stream) {
  if (!tensor.defined() || tensor.device() != stream.device() ||
      !tensor.has_storage())
    return;
  const c10::DataPtr &data = tensor.storage().data_ptr();
  c10::Allocator *allocator = c10::GetAllocator(stream.device_type());
  // Other memory is not the allocator's, which may fail for that.
  if (data.get() && data.get_deleter() == allocator->raw_deleter())
    c10::impl::VirtualGuardImpl(stream.device_type())
        .recordDataPtrOnStream(data, stream);
}

} // namespace fad::eager
