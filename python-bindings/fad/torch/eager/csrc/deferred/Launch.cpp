//===- Launch.cpp - Starts kernels of a GPU -------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Call.h"
#include "deferred/Streams.h"

namespace fad::eager {

/// Kernels count elements in 32 bits. See `fad-to-gpu`.
static constexpr int64_t largestLaunch = 1 << 30;

namespace {
/// The arguments of one launch after the other.
class Parameters {
public:
  Parameters(const DeviceKernel &kernel, const Arguments &arguments,
             const std::vector<at::Tensor> &results) {
    for (int64_t i = 0; i < kernel.parameterCount; ++i) {
      int64_t number = kernel.parameters[i];
      if (number < 0)
        add(results[-1 - number].mutable_data_ptr(), results[-1 - number]);
      else if (const at::Tensor *tensor = arguments[number].tensor)
        add(const_cast<void *>(tensor->const_data_ptr()), *tensor);
      else
        values.push_back({arguments[number].number, 0});
    }
  }

  bool areAligned() const {
    return std::all_of(values.begin(), values.end(), [](const Value &value) {
      return !value.elementSize ||
             reinterpret_cast<uintptr_t>(value.address) % 16 == 0;
    });
  }

  /// Arguments of the driver: a pointer to each value, and to `count`.
  std::vector<void *> get(int32_t &count) {
    std::vector<void *> pointers;
    for (Value &value : values)
      pointers.push_back(value.elementSize ? &value.address : value.address);
    pointers.push_back(&count);
    return pointers;
  }

  void advance(int64_t elements) {
    for (Value &value : values)
      value.address =
          static_cast<char *>(value.address) + elements * value.elementSize;
  }

private:
  /// A pointer to the device, or else to a number, whose size is 0.
  struct Value {
    void *address;
    int64_t elementSize;
  };
  void add(void *pointer, const at::Tensor &tensor) {
    values.push_back({pointer, static_cast<int64_t>(tensor.element_size())});
  }

  std::vector<Value> values;
};
} // namespace

void launch(const DeviceKernel &kernel, const Arguments &arguments,
            const std::vector<at::Tensor> &results) {
  const at::Tensor &like = results[0];
  Parameters parameters(kernel, arguments, results);
  void *function = parameters.areAligned() ? kernel.aligned : kernel.unaligned;
  void *stream = getCurrentStream(like.device())->native_handle();
  for (int64_t rest = like.numel(); rest > 0; rest -= largestLaunch) {
    auto size = static_cast<int32_t>(std::min(rest, largestLaunch));
    auto blocks = static_cast<unsigned>((size + kernel.tile - 1) / kernel.tile);
    TORCH_CHECK(!driver.launch(function, blocks, 1, 1,
                               static_cast<unsigned>(kernel.threads), 1, 1,
                               /*sharedBytes=*/0, stream,
                               parameters.get(size).data()),
                "fad.torch.nest: ", driver.getErrorMessage());
    parameters.advance(size);
  }
}

} // namespace fad::eager
