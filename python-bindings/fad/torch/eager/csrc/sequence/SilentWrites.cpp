//===- SilentWrites.cpp - Writes that no version counts -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/SilentWrites.h"
#include "sequence/Arguments.h"
#include "sequence/Fork.h"
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace fad::eager {

namespace {
/// When each storage was written to. Another storage may get the place of one
/// that is freed; what reads that is later.
struct Clock {
  ProcessMutex mutex{Rank::Others};
  std::unordered_map<const c10::StorageImpl *, uint64_t> written;
};
} // namespace

static std::atomic<uint64_t> silentWrites{0};

static Clock &clock() { return OfProcess<Clock>::get(); }

uint64_t countSilentWrites() { return silentWrites.load(); }

bool isSilentlyWritten(const at::Tensor &tensor, uint64_t after) {
  if (silentWrites.load() == after || !tensor.has_storage())
    return false;
  std::lock_guard<std::mutex> lock(clock().mutex);
  auto found = clock().written.find(tensor.storage().unsafeGetStorageImpl());
  return found != clock().written.end() && found->second > after;
}

void forgetSilentWrites(const at::Tensor &tensor) {
  std::lock_guard<std::mutex> lock(clock().mutex);
  clock().written.erase(tensor.storage().unsafeGetStorageImpl());
}

static bool isCollective(const c10::OperatorHandle &op) {
  return op.operator_name().name.rfind("c10d::", 0) == 0;
}

bool isSilentWriter(const c10::OperatorHandle &op) {
  static const std::unordered_set<std::string> names = {
      "aten::native_batch_norm",
      "aten::cudnn_batch_norm",
      "aten::miopen_batch_norm",
      "aten::batch_norm",
      "aten::_batch_norm_impl_index",
      "aten::batch_norm_update_stats",
      "aten::batch_norm_gather_stats",
      "aten::batch_norm_gather_stats_with_counts",
      "c10d::allreduce_",
      "c10d::allreduce_coalesced_",
      "c10d::broadcast_",
      "c10d::reduce_",
      "c10d::recv_",
      "c10d::recv_any_source_",
      "c10d::allgather_",
      "c10d::_allgather_base_",
      "c10d::allgather_coalesced_",
      "c10d::allgather_into_tensor_coalesced_",
      "c10d::gather_",
      "c10d::scatter_",
      "c10d::reduce_scatter_",
      "c10d::_reduce_scatter_base_",
      "c10d::reduce_scatter_tensor_coalesced_",
      "c10d::alltoall_",
      "c10d::alltoall_base_"};
  return !op.schema().is_mutable() && names.count(op.operator_name().name) != 0;
}

void noteSilentWrites(const c10::OperatorHandle &op,
                      const torch::jit::Stack &stack,
                      c10::function_ref<void(const at::Tensor &)> visit) {
  auto note = [&](const at::Tensor &tensor) {
    if (!tensor.has_storage())
      return;
    visit(tensor);
    std::lock_guard<std::mutex> lock(clock().mutex);
    clock().written[tensor.storage().unsafeGetStorageImpl()] = ++silentWrites;
  };
  const auto &arguments = op.schema().arguments();
  auto values = torch::jit::last(stack, arguments.size());
  bool isTraining = true;
  for (size_t i = 0; i < arguments.size(); ++i)
    if ((arguments[i].name() == "training" || arguments[i].name() == "train") &&
        values[i].isBool())
      isTraining = values[i].toBool();
  for (size_t i = 0; i < arguments.size() && isTraining; ++i)
    // A collective writes to its first argument.
    if (isCollective(op) ? i == 0
                         : arguments[i].name() == "running_mean" ||
                               arguments[i].name() == "running_var")
      visitTensors(values[i], note);
}

} // namespace fad::eager
