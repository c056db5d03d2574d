//===- host_device.cpp - A device of PyTorch that is the host -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device `privateuseone`, whose memory is the host's, as that of the CUDA
// driver for tests is. Operators are those of the CPU. Streams and events are
// the driver's.
//
//===----------------------------------------------------------------------===//

#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

namespace {
constexpr auto kType = c10::DeviceType::PrivateUse1;
constexpr int kDevices = 2, kStreams = 3;

/// Of each device; 0 is the default one.
void *handles[kDevices][kStreams];
thread_local c10::DeviceIndex device = 0;
thread_local c10::StreamId streams[kDevices] = {};
int64_t allocations = 0, synchronizations = 0;
/// Functions of libfad_cuda_runtime.so.
struct {
  int (*create)(void **event);
  int (*destroy)(void *event);
  int (*record)(void *event, void *stream);
  int (*wait)(void *stream, void *event);
} events;
/// Memory, and who uses it beside the stream of which it is.
std::vector<std::pair<const void *, c10::Stream>> uses;

c10::Stream streamOf(c10::DeviceIndex index, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kType, index), id);
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = kType;
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device to) const override {
    c10::Device before = getDevice();
    setDevice(to);
    return before;
  }
  c10::Device getDevice() const override { return {kType, device}; }
  void setDevice(c10::Device to) const override {
    device = to.has_index() ? to.index() : device;
  }
  void uncheckedSetDevice(c10::Device to) const noexcept override {
    setDevice(to);
  }
  c10::Stream getStream(c10::Device of) const override {
    c10::DeviceIndex index = of.has_index() ? of.index() : device;
    return streamOf(index, streams[index]);
  }
  c10::Stream getDefaultStream(c10::Device of) const override {
    return streamOf(of.index(), 0);
  }
  c10::Stream exchangeStream(c10::Stream to) const override {
    c10::Stream before = getStream(to.device());
    streams[to.device_index()] = to.id();
    return before;
  }
  void *getStreamNativeHandle(const c10::Stream of) const override {
    return handles[of.device_index()][of.id()];
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }
  bool queryStream(const c10::Stream &) const override { return true; }
  void synchronizeStream(const c10::Stream &) const override {
    ++synchronizations;
  }
  void recordDataPtrOnStream(const c10::DataPtr &data,
                             const c10::Stream &stream) const override {
    uses.emplace_back(data.get(), stream);
  }
  // The host is never behind.
  void destroyEvent(void *event,
                    const c10::DeviceIndex) const noexcept override {
    events.destroy(event);
  }
  void record(void **event, const c10::Stream &stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    if (!*event)
      TORCH_CHECK(!events.create(event));
    TORCH_CHECK(!events.record(*event, getStreamNativeHandle(stream)));
  }
  void block(void *event, const c10::Stream &stream) const override {
    TORCH_CHECK(!events.wait(getStreamNativeHandle(stream), event));
  }
  bool queryEvent(void *) const override { return true; }
};

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    ++allocations;
    void *data = nullptr;
    if (posix_memalign(&data, 256, bytes ? bytes : 1))
      throw std::bad_alloc();
    // The address may be one of memory that was freed.
    uses.erase(
        std::remove_if(uses.begin(), uses.end(),
                       [&](const auto &use) { return use.first == data; }),
        uses.end());
    return {data, data, &std::free, {kType, device}};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};
Allocator allocator;

struct Hooks final : at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  bool isAvailable() const override { return true; }
  c10::Allocator *getPinnedMemoryAllocator() const override {
    TORCH_CHECK(false, "there is no pinned memory");
  }
};

at::Tensor empty(c10::IntArrayRef sizes, std::optional<c10::ScalarType> type,
                 std::optional<c10::Layout>, std::optional<c10::Device> on,
                 std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  c10::OptionalDeviceGuard guard(on);
  return at::detail::empty_generic(
      sizes, &allocator, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::dtype_or_default(type), format);
}

at::Tensor emptyStrided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                        std::optional<c10::ScalarType> type,
                        std::optional<c10::Layout>,
                        std::optional<c10::Device> on, std::optional<bool>) {
  c10::OptionalDeviceGuard guard(on);
  return at::detail::empty_strided_generic(
      sizes, strides, &allocator,
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::dtype_or_default(type));
}

/// The same elements of memory as a tensor of another device.
at::Tensor alias(const at::Tensor &tensor, c10::Device to) {
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), tensor.storage().nbytes(),
      c10::DataPtr(
          tensor.storage().mutable_data(), new c10::Storage(tensor.storage()),
          [](void *kept) { delete static_cast<c10::Storage *>(kept); }, to),
      to.is_cpu() ? nullptr : &allocator, false);
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage),
      c10::DispatchKeySet(to.is_cpu() ? c10::DispatchKey::CPU
                                      : c10::DispatchKey::PrivateUse1),
      tensor.dtype());
  made.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(),
                                                    tensor.strides());
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
    made.unsafeGetTensorImpl()->set_wrapped_number(true);
  return made;
}

at::Tensor copyFrom(const at::Tensor &from, const at::Tensor &to, bool) {
  alias(to, c10::kCPU).copy_(alias(from, c10::kCPU));
  return to;
}

/// An operator of the CPU on the same memory.
void runOnHost(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  const auto &schema = op.schema();
  size_t begin = stack->size() - schema.arguments().size();
  std::vector<c10::IValue> given(stack->begin() + begin, stack->end());
  c10::Device there(kType, device);
  auto move = [&](c10::IValue &value) {
    auto each = [&](const at::Tensor &tensor) {
      if (!tensor.defined() || !tensor.is_privateuseone())
        return tensor;
      there = tensor.device();
      return alias(tensor, c10::kCPU);
    };
    if (value.isTensor()) {
      value = each(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor &tensor : value.toTensorVector())
        list.push_back(each(tensor));
      value = list;
    } else if (value.isDevice() && value.toDevice().type() == kType) {
      there = value.toDevice();
      value = c10::Device(c10::kCPU);
    }
  };
  for (size_t i = begin; i < stack->size(); ++i)
    move((*stack)[i]);
  op.callBoxed(stack);
  begin = stack->size() - schema.returns().size();
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    c10::IValue &value = (*stack)[begin + i];
    if (!value.isTensor() || !value.toTensor().defined())
      continue;
    // What is written to is returned as it was given.
    const c10::AliasInfo *info = schema.returns()[i].alias_info();
    at::Tensor found;
    for (size_t k = 0; info && info->isWrite() && k < given.size(); ++k)
      if (const auto *of = schema.arguments()[k].alias_info();
          of && of->isWrite() && *of == *info)
        found = given[k].toTensor();
    if (!found.defined())
      found = alias(value.toTensor(), there);
    else if (!found.sizes().equals(value.toTensor().sizes()))
      found.unsafeGetTensorImpl()->set_sizes_contiguous(
          value.toTensor().sizes());
    value = found;
  }
}
} // namespace

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)
REGISTER_ALLOCATOR(kType, &allocator)

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&runOnHost>());
  at::RegisterPrivateUse1HooksInterface(new Hooks());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", emptyStrided);
  m.impl("_copy_from", copyFrom);
  m.impl("view", &at::native::view);
  m.impl("as_strided", [](const at::Tensor &self, c10::IntArrayRef sizes,
                          c10::IntArrayRef strides,
                          std::optional<int64_t> offset) {
    return at::native::as_strided_tensorimpl(self, sizes, strides, offset);
  });
}

#define HOST_DEVICE_API extern "C" __attribute__((visibility("default")))
HOST_DEVICE_API void host_device_set_stream(int64_t of, int64_t id,
                                            void *handle) {
  handles[of][id] = handle;
}
HOST_DEVICE_API void host_device_use_stream(int64_t of, int64_t id) {
  streams[of] = id;
}
HOST_DEVICE_API void host_device_set_events(void *create, void *destroy,
                                            void *record, void *wait) {
  reinterpret_cast<void *&>(events.create) = create;
  reinterpret_cast<void *&>(events.destroy) = destroy;
  reinterpret_cast<void *&>(events.record) = record;
  reinterpret_cast<void *&>(events.wait) = wait;
}
/// Whether it was recorded that a stream uses memory.
HOST_DEVICE_API bool host_device_is_used(const void *data, int64_t of,
                                         int64_t id) {
  return std::find(uses.begin(), uses.end(),
                   std::pair(data, streamOf(of, id))) != uses.end();
}
HOST_DEVICE_API int64_t host_device_allocations() { return allocations; }
HOST_DEVICE_API int64_t host_device_synchronizations() {
  return synchronizations;
}
