//===- OneDNNConvolution.cpp - Convolutions by oneDNN ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneDNN.h"
#include "fad/Runtime/Memory.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

using namespace mlir::fad;

namespace {
/// Memory that is freed where the scope ends.
struct FreeBuffer {
  void operator()(void *buffer) const { freeBuffer(buffer); }
};

/// A primitive for a convolution, the layouts of its operands by their roles,
/// and where the primitive has other layouts, what converts between them. The
/// primitive is null if oneDNN has no code for them.
struct ConvolutionPlan {
  ConvolutionPlan() = default;
  ConvolutionPlan(const ConvolutionPlan &) = delete;
  ConvolutionPlan &operator=(const ConvolutionPlan &) = delete;
  ~ConvolutionPlan() {
    const OneDNN *library = OneDNN::get();
    library->destroy(primitive);
    for (const Primitive &conversion : conversions)
      library->destroy(conversion);
    for (const auto &layouts : {given, chosen})
      for (const Layout &layout : layouts)
        library->destroy(layout);
  }

  bool create(const OneDNN &library, const Convolution &convolution);

  std::array<Layout, 3> given, chosen;
  Primitive primitive;
  /// Null where the primitive takes the given layout.
  std::array<Primitive, 3> conversions;
  /// The layouts of the primitive, which owns them.
  std::array<const void *, 3> layouts = {};
};
} // namespace

/// oneDNN's numbers for the operands by their roles.
static std::array<int, 3> getNumbers(Role output) {
  std::array<int, 3> numbers = {1, 33, 17};
  constexpr int gradient = 128;
  numbers[output] += output == result ? 0 : gradient;
  numbers[result] += output == result ? 0 : gradient;
  return numbers;
}

/// The sizes of the operand of `role`.
static llvm::SmallVector<int64_t, 6> getSizes(const Convolution &convolution,
                                              Role role) {
  int64_t groups = convolution.groups;
  llvm::SmallVector<int64_t, 6> sizes = {
      convolution.batch, groups * (role == image ? convolution.inChannels
                                                 : convolution.outChannels)};
  if (role == filter)
    sizes = {groups, convolution.outChannels, convolution.inChannels};
  for (const Convolution::Dim &dim : convolution.dims)
    sizes.push_back(dim.sizes[role]);
  // Without groups a filter has one dimension less.
  if (role == filter && groups == 1)
    sizes.erase(sizes.begin());
  return sizes;
}

/// The elements after the image that the last window of `dim` has; negative
/// where windows leave out elements.
static int64_t getPaddingAfter(const Convolution::Dim &dim) {
  return (dim.sizes[result] - 1) * dim.stride +
         (dim.sizes[filter] - 1) * dim.dilation + 1 - dim.padding -
         dim.sizes[image];
}

/// The descriptor of a primitive for `convolution` on `layouts`, or null.
static void *describe(const OneDNN &library, const Convolution &convolution,
                      const std::array<Layout, 3> &layouts) {
  llvm::SmallVector<int64_t, 3> strides, dilations, before, after;
  for (const Convolution::Dim &dim : convolution.dims) {
    strides.push_back(dim.stride);
    dilations.push_back(dim.dilation - 1);
    before.push_back(dim.padding);
    after.push_back(getPaddingAfter(dim));
  }
  const void *in = library.getPointer(layouts[image]);
  const void *window = library.getPointer(layouts[filter]);
  const void *out = library.getPointer(layouts[result]);
  constexpr int training = 64, direct = 1;
  void *attributes = library.makeAttributes(/*accumulate=*/false);
  void *descriptor = nullptr;
  const int64_t *s = strides.data(), *d = dilations.data(), *b = before.data(),
                *a = after.data();
  bool found = false;
  if (library.version == 2) {
    Descriptor operation;
    switch (convolution.output) {
    case result:
      found = library.initConvolution(operation.words, training, direct, in,
                                      window, nullptr, out, s, d, b, a) == 0;
      break;
    case image:
      found = library.initImageGradient(operation.words, direct, in, window,
                                        out, s, d, b, a) == 0;
      break;
    case filter:
      found = library.initFilterGradient(operation.words, direct, in, window,
                                         nullptr, out, s, d, b, a) == 0;
      break;
    }
    found = found &&
            library.createDescriptor(&descriptor, operation.words, attributes,
                                     library.engine, nullptr) == 0;
  } else {
    switch (convolution.output) {
    case result:
      found = library.createConvolution(&descriptor, library.engine, training,
                                        direct, in, window, nullptr, out, s, d,
                                        b, a, attributes) == 0;
      break;
    case image:
      found = library.createImageGradient(&descriptor, library.engine, direct,
                                          in, window, out, s, d, b, a, nullptr,
                                          attributes) == 0;
      break;
    case filter:
      found = library.createFilterGradient(&descriptor, library.engine, direct,
                                           in, window, nullptr, out, s, d, b, a,
                                           nullptr, attributes) == 0;
      break;
    }
  }
  library.destroyAttributes(attributes);
  return found ? descriptor : nullptr;
}

/// Whether the code of `descriptor`, for the given layouts, is as fast as any.
/// Products of matrices (gemm) take up to 2.5 times as long as code for blocks
/// of channels, conversions included, but for few channels: 1/4 for the
/// gradient of 8 images of 3 x 224 x 224.
static bool isFast(const OneDNN &library, const Convolution &convolution,
                   const void *descriptor) {
  constexpr int implementation = 8;
  constexpr int64_t fewChannels = 8;
  const char *name = nullptr;
  if (library.query(descriptor, implementation, 0, &name) != 0 || !name)
    return false;
  llvm::StringRef code(name);
  if (code.starts_with("ref"))
    return false;
  return !code.contains("gemm") ||
         (convolution.output == image && convolution.inChannels < fewChannels);
}

bool ConvolutionPlan::create(const OneDNN &library,
                             const Convolution &convolution) {
  // oneDNN 2.6 reads beyond the image by AMX, and crashes.
  if (llvm::all_of(convolution.dims,
                   [](const auto &dim) { return dim.sizes[filter] == 1; }) &&
      llvm::any_of(convolution.dims,
                   [](const auto &dim) { return getPaddingAfter(dim) > 0; }))
    return false;
  auto getElement = [&](unsigned role) {
    return role == convolution.output ? convolution.sum : convolution.factor;
  };
  for (Role role : {image, filter, result}) {
    llvm::ArrayRef<int64_t> strides = convolution.strides[role];
    if (role == filter && convolution.groups == 1)
      strides = strides.drop_front();
    auto sizes = getSizes(convolution, role);
    if (!library.describe(given[role], getElement(role), sizes, strides) ||
        !library.describeAny(chosen[role], getElement(role), sizes))
      return false;
  }
  void *descriptor = describe(library, convolution, given);
  if (!descriptor || !isFast(library, convolution, descriptor))
    if (void *better = describe(library, convolution, chosen)) {
      if (descriptor)
        library.destroyDescriptor(descriptor);
      descriptor = better;
    }
  if (!descriptor)
    return false;
  primitive = library.finish(descriptor);
  constexpr int argument = 255;
  std::array<int, 3> numbers = getNumbers(convolution.output);
  for (Role role : {image, filter, result}) {
    bool isOutput = role == convolution.output;
    bool accumulates = isOutput && convolution.accumulate;
    const void *from = library.getPointer(given[role]);
    const void *to = layouts[role] =
        library.queryLayout(descriptor, argument, numbers[role]);
    if (!to)
      return false;
    if (library.areLayoutsEqual(from, to) && !accumulates)
      continue;
    if (isOutput)
      std::swap(from, to);
    void *attributes = library.makeAttributes(accumulates);
    void *conversion = nullptr;
    bool found = library.createReorder(&conversion, from, library.engine, to,
                                       library.engine, attributes) == 0;
    library.destroyAttributes(attributes);
    if (!found)
      return false;
    conversions[role] = library.finish(conversion);
    if (!conversions[role].primitive)
      return false;
  }
  return primitive.primitive != nullptr;
}

static llvm::SmallVector<int64_t, 48> getKey(const Convolution &convolution) {
  llvm::SmallVector<int64_t, 48> key = {
      int64_t(convolution.factor), int64_t(convolution.sum),
      int64_t(convolution.output), convolution.accumulate,
      convolution.groups,          convolution.batch,
      convolution.inChannels,      convolution.outChannels};
  for (const Convolution::Dim &dim : convolution.dims)
    key.append({dim.sizes[0], dim.sizes[1], dim.sizes[2], dim.stride,
                dim.dilation, dim.padding});
  for (const auto &strides : convolution.strides)
    llvm::append_range(key, strides);
  return key;
}

bool mlir::fad::convolveByOneDNN(const Convolution &convolution,
                                 llvm::ArrayRef<void *> operands) {
  const OneDNN *library = OneDNN::get();
  if (!library || getCode(convolution.factor) == 0)
    return false;
  struct Entry {
    ConvolutionPlan plan;
    bool works = false;
  };
  static auto *cache = new PrimitiveCache<Entry>;
  auto entry = cache->get(getKey(convolution), [&](Entry &made) {
    made.works = made.plan.create(*library, convolution);
  });
  const ConvolutionPlan &plan = entry->plan;
  if (!entry->works)
    return false;
  using Buffer = std::unique_ptr<void, FreeBuffer>;
  std::array<Buffer, 3> copies;
  std::array<void *, 3> data;
  for (Role role : {image, filter, result}) {
    data[role] = operands[role];
    if (!plan.conversions[role].primitive)
      continue;
    copies[role].reset(
        allocateBuffer(library->getLayoutSize(plan.layouts[role])));
    if (!(data[role] = copies[role].get()))
      return false;
  }
  // oneDNN's numbers for what a conversion reads and writes.
  constexpr int source = 1, target = 17;
  auto convert = [&](Role role) {
    const Primitive &conversion = plan.conversions[role];
    if (!conversion.primitive)
      return true;
    const void *user = library->getPointer(plan.given[role]);
    bool isOutput = role == convolution.output;
    return library->execute(
        conversion,
        {{isOutput ? target : source, user, operands[role]},
         {isOutput ? source : target, plan.layouts[role], data[role]}});
  };
  std::array<int, 3> numbers = getNumbers(convolution.output);
  llvm::SmallVector<Operand, 3> arguments;
  for (Role role : {image, filter, result}) {
    if (role != convolution.output && !convert(role))
      return false;
    arguments.push_back({numbers[role], plan.layouts[role], data[role]});
  }
  return library->execute(plan.primitive, arguments) &&
         convert(convolution.output);
}
