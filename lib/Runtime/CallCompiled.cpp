//===- CallCompiled.cpp - Calls of compiled functions ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostSymbols.h"
#include "fad/Runtime/CUDATarget.h"
#include "fad/Runtime/CompiledModule.h"
#include "fad/Runtime/Memory.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fad;

// A memref descriptor consists of 64-bit words: the allocated pointer, the
// aligned pointer, the offset, the sizes, and the strides.
static constexpr unsigned kAllocated = 0, kAligned = 1, kOffset = 2, kSizes = 3;

static SmallVector<int64_t> makeDescriptor(const HostTensor &tensor) {
  auto address = reinterpret_cast<int64_t>(tensor.data());
  SmallVector<int64_t> words = {address, address, 0};
  llvm::append_range(words, tensor.getShape());
  llvm::append_range(words, computeStrides(tensor.getShape()));
  return words;
}

void CompiledModule::layOut(Function &function) {
  size_t end = 0;
  for (Result &result : function.results) {
    if (result.source != Result::Source::Computed)
      continue;
    // Everything is aligned to its size, descriptors to 8 bytes.
    size_t size = result.isScalar
                      ? getHostElementSize(result.type.getElementType())
                      : sizeof(int64_t);
    result.offset = llvm::alignTo(end, size);
    size_t count = result.isScalar ? 1 : kSizes + 2 * result.type.getRank();
    end = result.offset + size * count;
  }
  function.blockSize = llvm::divideCeil(end, sizeof(int64_t));
}

/// Whether `tensor` is the whole of a buffer without other owners.
static bool isUnique(const HostTensor &tensor) {
  const std::shared_ptr<void> &owner = tensor.getOwner();
  auto *free = std::get_deleter<void (*)(void *)>(owner);
  return free && *free == freeBuffer && owner.use_count() == 1 &&
         owner.get() == tensor.data();
}

/// Makes buffers of `tensors`, at `indices`, that compiled code frees. Returns
/// them.
static llvm::Expected<SmallVector<void *>>
handOver(MutableArrayRef<HostTensor> tensors, ArrayRef<unsigned> indices) {
  for (unsigned index : indices) {
    if (isUnique(tensors[index]))
      continue;
    llvm::Expected<HostTensor> copy = tensors[index].clone();
    if (!copy)
      return copy.takeError();
    tensors[index] = *copy;
  }
  SmallVector<void *> buffers;
  for (unsigned index : indices) {
    buffers.push_back(tensors[index].data());
    retainBuffer(buffers.back());
    tensors[index] = HostTensor();
  }
  return buffers;
}

llvm::Expected<SmallVector<HostTensor>>
CompiledModule::unpack(const Function &function, ArrayRef<int64_t> block,
                       ArrayRef<HostTensor> arguments) {
  // Every buffer has one owner, however many tensors are in it.
  llvm::SmallDenseMap<void *, std::shared_ptr<void>> owners;
  for (const HostTensor &argument : arguments)
    owners[argument.data()] = argument.getOwner();
  SmallVector<HostTensor> results;
  for (const Result &result : function.results) {
    if (result.source != Result::Source::Computed) {
      results.push_back(result.source == Result::Source::Argument
                            ? arguments[result.index]
                            : results[result.index]);
      continue;
    }
    const char *address =
        reinterpret_cast<const char *>(block.data()) + result.offset;
    if (result.isScalar) {
      llvm::Expected<HostTensor> scalar = HostTensor::create(result.type);
      if (!scalar)
        return scalar.takeError();
      std::memcpy(scalar->data(), address, scalar->getNumBytes());
      results.push_back(*scalar);
      continue;
    }
    const auto *words = reinterpret_cast<const int64_t *>(address);
    auto *allocated = reinterpret_cast<void *>(words[kAllocated]);
    auto *elements =
        reinterpret_cast<char *>(words[kAligned]) +
        words[kOffset] * getHostElementSize(result.type.getElementType());
    std::shared_ptr<void> &owner = owners[allocated];
    if (!owner)
      owner = std::shared_ptr<void>(allocated, freeBuffer);
    ArrayRef<int64_t> sizes(words + kSizes, result.type.getRank());
    results.emplace_back(result.type.clone(sizes), owner, elements);
  }
  return results;
}

llvm::Expected<SmallVector<HostTensor>>
CompiledModule::consume(StringRef name, SmallVector<HostTensor> arguments,
                        CallMemory *memory) const {
  const Function &function = functions.find(name)->second;
  SmallVector<SmallVector<int64_t>> descriptors(arguments.size());
  SmallVector<void *> pointers(arguments.size() + 1);
  SmallVector<int64_t> block(function.blockSize);
  // The packed function takes addresses of arguments; descriptors are passed by
  // address. So are results, before the arguments, except a single scalar,
  // which the packed function writes after the arguments.
  SmallVector<void *> packed;
  auto computed = function.getComputed();
  size_t numComputed = llvm::range_size(computed);
  bool returnsScalar = numComputed == 1 && (*computed.begin()).isScalar;
  if (numComputed && !returnsScalar) {
    pointers.back() = block.data();
    packed.push_back(&pointers.back());
  }
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    if (function.isScalarArgument[index]) {
      packed.push_back(argument.data());
      continue;
    }
    descriptors[index] = makeDescriptor(argument);
    pointers[index] = descriptors[index].data();
    packed.push_back(&pointers[index]);
  }
  if (returnsScalar)
    packed.push_back(block.data());

  auto owned = handOver(arguments, function.ownedArguments);
  if (!owned)
    return owned.takeError();
  for (auto [index, buffer] : llvm::zip(function.ownedArguments, *owned))
    for (unsigned word : {kAllocated, kAligned})
      descriptors[index][word] = reinterpret_cast<int64_t>(buffer);
  int64_t before = getBufferBytes(), allocated = getNumAllocations();
  if (memory)
    resetPeakBufferBytes();
  if (llvm::Error error = callCompiled(function.invoke, packed.data(), *owned))
    return error;
  if (usesCUDA)
    if (llvm::Error error = takeCUDAError())
      return error;
  if (memory)
    *memory = {int64_t(getPeakBufferBytes()) - before,
               int64_t(getNumAllocations()) - allocated};
  return unpack(function, block, arguments);
}

/// Sets how long threads of loops that this thread calls wait for the next loop
/// before they sleep.
static void setWaitingTime(int milliseconds) {
  using SetWaitingTime = void (*)(int);
  static auto *set =
      reinterpret_cast<SetWaitingTime>(findInOpenMP("kmp_set_blocktime"));
  if (set)
    set(milliseconds);
}

SharedProcessors::SharedProcessors(int threads)
    : threads(setMaxThreads(threads)) {
  using GetWaitingTime = int (*)();
  static auto *get =
      reinterpret_cast<GetWaitingTime>(findInOpenMP("kmp_get_blocktime"));
  milliseconds = get ? get() : 0;
  setWaitingTime(0);
}

SharedProcessors::~SharedProcessors() {
  setMaxThreads(threads);
  setWaitingTime(milliseconds);
}

void (*CompiledModule::getPacked(StringRef name) const)(void **) {
  auto found = functions.find(name);
  if (found == functions.end())
    return nullptr;
  const Function &function = found->second;
  auto isTensor = [](const Result &result) { return !result.isScalar; };
  bool hasCode = llvm::all_of(function.getComputed(), isTensor) &&
                 function.ownedArguments.empty();
  return hasCode ? function.invoke : nullptr;
}
