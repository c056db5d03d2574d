//===- Convolve.cpp - Convolutions of compiled code -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "Contract.h"
#include <algorithm>
#include <memory>
#include <new>

using namespace mlir::fad;

namespace {
/// A dimension of the image that is accessed in windows: at
/// `steps[0] * loops[0] + steps[1] * loops[1] + offset`.
struct Window {
  unsigned loops[2];
  int64_t steps[2], offset;
  /// Of the image.
  int64_t size = 0, stride = 0;
};

/// A call, with the loops that stand alone in operands, and those that stand in
/// windows.
struct Call {
  Element factor, sum;
  bool accumulate = false;
  unsigned image = 0;
  llvm::SmallVector<BufferView, 3> buffers;
  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<Window, 3> windows;

  Element getElement(unsigned operand) const {
    return operand == 2 ? sum : factor;
  }
  bool isInWindow(unsigned loop) const {
    return llvm::any_of(windows, [&](const Window &window) {
      return window.loops[0] == loop || window.loops[1] == loop;
    });
  }
};
} // namespace

/// The windows of `words`, each 4 bits for two loops, 12 for their steps, and
/// 32 for the offset; 0 for none.
static llvm::SmallVector<Window, 3> readWindows(llvm::ArrayRef<int64_t> words) {
  llvm::SmallVector<Window, 3> windows;
  for (uint64_t word : words) {
    if (word == 0)
      continue;
    Window window;
    window.loops[0] = word & 15;
    window.loops[1] = (word >> 4) & 15;
    window.steps[0] = (word >> 8) & 0xfff;
    window.steps[1] = (word >> 20) & 0xfff;
    window.offset = static_cast<int32_t>(word >> 32);
    windows.push_back(window);
  }
  return windows;
}

/// Calls `body` with the index of each element of `sizes` in row-major order.
template <typename Body>
static void forEachIndex(llvm::ArrayRef<int64_t> sizes, Body body) {
  if (llvm::is_contained(sizes, 0))
    return;
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  while (true) {
    body(llvm::ArrayRef<int64_t>(index));
    size_t dim = sizes.size();
    while (dim > 0 && ++index[dim - 1] == sizes[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

/// Sets the elements of the output to zero.
static void clear(const Call &call) {
  const BufferView &output = call.buffers[2];
  forEachIndex(output.sizes, [&](llvm::ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (auto [position, stride] : llvm::zip(index, output.strides))
      at += position * stride;
    storeElement(call.sum, output.data, at, 0);
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Computes `convolution` by loops. Each sum is rounded once.
static void convolveByLoops(const Convolution &convolution,
                            llvm::ArrayRef<char *> operands) {
  Role output = convolution.output;
  // The position in one operand follows from those in the others.
  Role inner = output == filter ? result : filter;
  Role third = Role(image + filter + result - output - inner);
  int64_t counts[3] = {convolution.batch, convolution.outChannels,
                       convolution.inChannels};
  Role lacking[3] = {filter, image, result};
  llvm::SmallVector<int64_t> outerSizes = {convolution.groups}, innerSizes;
  for (unsigned i = 0; i < 3; ++i) {
    outerSizes.push_back(lacking[i] == output ? 1 : counts[i]);
    innerSizes.push_back(lacking[i] == output ? counts[i] : 1);
  }
  for (const Convolution::Dim &dim : convolution.dims) {
    outerSizes.push_back(dim.sizes[output]);
    innerSizes.push_back(dim.sizes[inner]);
  }
  // Finds the position in the third operand; false if it is outside.
  auto solve = [&](const Convolution::Dim &dim, int64_t at[3]) {
    if (third == image) {
      at[image] =
          at[result] * dim.stride + at[filter] * dim.dilation - dim.padding;
    } else {
      int64_t from = at[image] + dim.padding - at[filter] * dim.dilation;
      if (from % dim.stride != 0)
        return false;
      at[result] = from / dim.stride;
    }
    return at[third] >= 0 && at[third] < dim.sizes[third];
  };
  auto getElement = [&](Role role) {
    return role == output ? convolution.sum : convolution.factor;
  };
  // The offsets of the elements; false if one is outside.
  auto locate = [&](llvm::ArrayRef<int64_t> outer,
                    llvm::ArrayRef<int64_t> index, int64_t offsets[3]) {
    int64_t group = outer[0], batch = outer[1] + index[0],
            out = outer[2] + index[1], in = outer[3] + index[2];
    auto dot = [](llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<int64_t> position) {
      int64_t sum = 0;
      for (auto [stride, each] : llvm::zip(strides, position))
        sum += stride * each;
      return sum;
    };
    offsets[image] = dot(convolution.strides[image],
                         {batch, group * convolution.inChannels + in});
    offsets[filter] = dot(convolution.strides[filter], {group, out, in});
    offsets[result] = dot(convolution.strides[result],
                          {batch, group * convolution.outChannels + out});
    for (auto [number, dim] : llvm::enumerate(convolution.dims)) {
      int64_t at[3];
      at[output] = outer[4 + number];
      at[inner] = index[3 + number];
      if (!solve(dim, at))
        return false;
      for (Role role : {image, filter, result})
        offsets[role] +=
            at[role] *
            convolution.strides[role][(role == filter ? 3 : 2) + number];
    }
    return true;
  };
  Role left = output == image ? filter : image;
  Role right = output == result ? filter : result;
  forEachIndex(outerSizes, [&](llvm::ArrayRef<int64_t> outer) {
    double sum = 0;
    forEachIndex(innerSizes, [&](llvm::ArrayRef<int64_t> index) {
      int64_t offsets[3];
      if (locate(outer, index, offsets))
        sum += loadElement(getElement(left), operands[left], offsets[left]) *
               loadElement(getElement(right), operands[right], offsets[right]);
    });
    int64_t at = 0;
    auto place = [&](llvm::ArrayRef<int64_t> position) {
      for (auto [stride, each] :
           llvm::zip(convolution.strides[output], position))
        at += stride * each;
    };
    llvm::SmallVector<int64_t, 6> position;
    if (output == filter)
      position = {outer[0], outer[2], outer[3]};
    else
      position = {outer[1],
                  output == image
                      ? outer[0] * convolution.inChannels + outer[3]
                      : outer[0] * convolution.outChannels + outer[2]};
    llvm::append_range(position, outer.drop_front(4));
    place(position);
    if (convolution.accumulate)
      sum += loadElement(convolution.sum, operands[output], at);
    storeElement(convolution.sum, operands[output], at, sum);
  });
}

//===----------------------------------------------------------------------===//
// The form that a library takes
//===----------------------------------------------------------------------===//

/// The operands by their roles. The filter is the one whose part of the windows
/// is smaller.
static std::array<unsigned, 3> findRoles(const Call &call) {
  unsigned first = (call.image + 1) % 3, second = (call.image + 2) % 3;
  // If both are alike: the input before the output, the right one before the
  // left one.
  if (first == 2 || (second != 2 && first < second))
    std::swap(first, second);
  auto count = [&](unsigned operand) {
    int64_t product = 1;
    for (const Window &window : call.windows)
      for (unsigned loop : window.loops)
        if (call.loops[loop].kind & (1 << operand))
          product *= call.loops[loop].size;
    return product;
  };
  if (count(second) < count(first))
    std::swap(first, second);
  return {call.image, first, second};
}

namespace {
/// A loop around calls of the library: its size, and the bytes between the
/// elements of each operand.
struct Outer {
  int64_t size, bytes[3];
  /// Whether it adds to the same elements again.
  bool isReduction;
};

/// The convolutions that make up a call.
class Convolutions {
public:
  Convolutions(const Call &call)
      : call(call), operandOf(findRoles(call)), data{} {}

  void run();

private:
  /// Takes the loop out of those with `kind`, a set of roles, that the library
  /// gets: the largest. The others become outer loops.
  Loop takeLoop(unsigned kind);
  void addOuter(const Loop &loop);
  void addWindow(const Window &window);
  void convolve(llvm::ArrayRef<Outer> loops);

  unsigned getRoles(const Loop &loop) const {
    unsigned roles = 0;
    for (unsigned role = 0; role < 3; ++role)
      if (loop.kind & (1 << operandOf[role]))
        roles |= 1 << role;
    return roles;
  }

  const Call &call;
  std::array<unsigned, 3> operandOf;
  std::array<char *, 3> data;
  Convolution convolution;
  llvm::SmallVector<Outer> outer;
  /// Whether the image has no elements but those that the library gets.
  bool coversOutput = true;
};
} // namespace

void Convolutions::addOuter(const Loop &loop) {
  Outer added = {loop.size, {}, (loop.kind & (1 << 2)) == 0};
  for (unsigned role = 0; role < 3; ++role) {
    unsigned operand = operandOf[role];
    added.bytes[role] =
        loop.strides[operand] * getBytes(call.getElement(operand));
  }
  // Reductions inside, so that the first of them sets each element.
  outer.insert(added.isReduction ? outer.end() : outer.begin(), added);
}

Loop Convolutions::takeLoop(unsigned kind) {
  Loop taken;
  for (auto [number, loop] : llvm::enumerate(call.loops)) {
    if (getRoles(loop) != kind || call.isInWindow(number) || loop.size == 1)
      continue;
    if (taken.size == 1) {
      taken = loop;
    } else {
      bool isLarger = loop.size > taken.size;
      addOuter(isLarger ? taken : loop);
      if (isLarger)
        taken = loop;
    }
  }
  return taken;
}

void Convolutions::addWindow(const Window &window) {
  Convolution::Dim dim = {};
  int64_t strides[3] = {window.stride, 0, 0};
  for (unsigned side : {0, 1}) {
    const Loop &loop = call.loops[window.loops[side]];
    Role role = loop.kind & (1 << operandOf[filter]) ? filter : result;
    dim.sizes[role] = loop.size;
    (role == filter ? dim.dilation : dim.stride) = window.steps[side];
    strides[role] = loop.strides[operandOf[role]];
  }
  // What lies before all windows, or after them, is not a part of the image.
  int64_t before = std::max<int64_t>(window.offset, 0);
  dim.padding = std::max<int64_t>(-window.offset, 0);
  data[image] += before * window.stride * getBytes(call.getElement(call.image));
  dim.sizes[image] = window.size - before;
  int64_t read = (dim.sizes[result] - 1) * dim.stride +
                 (dim.sizes[filter] - 1) * dim.dilation + 1 - dim.padding;
  coversOutput &= before == 0;
  // oneDNN takes up to a stride more.
  if (dim.sizes[image] >= read + dim.stride) {
    dim.sizes[image] = read;
    coversOutput = false;
  }
  dim.sizes[image] = std::max<int64_t>(dim.sizes[image], 0);
  // Windows of one element skip what lies between them. It is not a part of the
  // image, so that no library copies it.
  if (dim.sizes[filter] == 1 && dim.padding == 0 && dim.sizes[image] >= read &&
      convolution.output != image) {
    dim.sizes[image] = dim.sizes[result];
    strides[image] *= dim.stride;
    dim.stride = 1;
  }
  convolution.dims.push_back(dim);
  for (unsigned role = 0; role < 3; ++role)
    convolution.strides[role].push_back(strides[role]);
}

void Convolutions::convolve(llvm::ArrayRef<Outer> loops) {
  if (loops.empty()) {
    if (!convolveByOneDNN(convolution, {data[0], data[1], data[2]}))
      convolveByLoops(convolution, data);
    return;
  }
  const Outer &loop = loops.front();
  std::array<char *, 3> begin = data;
  bool accumulate = convolution.accumulate;
  for (int64_t i = 0; i < loop.size; ++i) {
    convolve(loops.drop_front());
    for (unsigned role = 0; role < 3; ++role)
      data[role] += loop.bytes[role];
    convolution.accumulate |= loop.isReduction;
  }
  convolution.accumulate = accumulate;
  data = begin;
}

void Convolutions::run() {
  convolution.factor = call.factor;
  convolution.sum = call.sum;
  convolution.accumulate = call.accumulate;
  for (Role role : {image, filter, result}) {
    data[role] = call.buffers[operandOf[role]].data;
    if (operandOf[role] == 2)
      convolution.output = role;
  }
  constexpr unsigned i = 1 << image, f = 1 << filter, r = 1 << result;
  Loop batch = takeLoop(i | r), in = takeLoop(i | f), out = takeLoop(f | r),
       group = takeLoop(i | f | r);
  auto getStride = [&](const Loop &loop, Role role) {
    return loop.strides[operandOf[role]];
  };
  // Channels of a group follow those of the group before.
  bool follow = true;
  for (auto [role, channel] : {std::pair(image, &in), std::pair(result, &out)})
    follow &=
        channel->size == 1 ||
        getStride(group, role) == channel->size * getStride(*channel, role);
  if (group.size > 1 && !follow) {
    addOuter(group);
    group = Loop();
  }
  convolution.groups = group.size;
  convolution.batch = batch.size;
  convolution.inChannels = in.size;
  convolution.outChannels = out.size;
  auto getChannelStride = [&](const Loop &channel, Role role) {
    return getStride(channel.size == 1 ? group : channel, role);
  };
  convolution.strides[image] = {getStride(batch, image),
                                getChannelStride(in, image)};
  convolution.strides[filter] = {getStride(group, filter),
                                 getStride(out, filter), getStride(in, filter)};
  convolution.strides[result] = {getStride(batch, result),
                                 getChannelStride(out, result)};
  for (const Window &window : call.windows)
    addWindow(window);
  bool isEmpty = llvm::any_of(
      convolution.dims, [](const auto &dim) { return dim.sizes[image] == 0; });
  if (!call.accumulate &&
      (isEmpty || (convolution.output == image && !coversOutput))) {
    clear(call);
    convolution.accumulate = true;
  }
  if (!isEmpty)
    convolve(outer);
}

static void convolve(Element factor, Element sum,
                     llvm::ArrayRef<::UnrankedMemRefType<char> *> descriptors,
                     llvm::ArrayRef<int64_t> words,
                     llvm::ArrayRef<int64_t> windowWords, int64_t flags) {
  ThreadLimit limit(flags);
  Call call;
  call.factor = factor;
  call.sum = sum;
  call.accumulate = flags & kAccumulate;
  for (auto [operand, descriptor] : llvm::enumerate(descriptors))
    call.buffers.emplace_back(*descriptor, getBytes(call.getElement(operand)));
  call.windows = readWindows(windowWords);
  call.loops = findLoops(
      call.buffers, words, [&](unsigned operand, unsigned window, size_t dim) {
        call.image = operand;
        call.windows[window].size = call.buffers[operand].sizes[dim];
        call.windows[window].stride = call.buffers[operand].strides[dim];
      });
  if (llvm::any_of(call.loops, [](const Loop &loop) { return loop.size == 0; }))
    return call.accumulate ? void() : clear(call);
  Convolutions(call).run();
}

//===----------------------------------------------------------------------===//
// Functions of compiled code
//===----------------------------------------------------------------------===//

/// What the compiled code calls.
template <Element factor, Element sum>
static void
convolveBuffers(::UnrankedMemRefType<char> *left,
                ::UnrankedMemRefType<char> *right,
                ::UnrankedMemRefType<char> *output, int64_t leftLoops,
                int64_t rightLoops, int64_t outputLoops, int64_t firstWindow,
                int64_t secondWindow, int64_t thirdWindow, int64_t flags) {
  convolve(factor, sum, {left, right, output},
           {leftLoops, rightLoops, outputLoops},
           {firstWindow, secondWindow, thirdWindow}, flags);
}

namespace {
struct ConvolveEntry {
  const char *types;
  Element factor, sum;
  ConvolveFunction *function;
};
} // namespace

#define FAD_CONVOLVE(TYPES, FACTOR, SUM)                                       \
  {TYPES, Element::FACTOR, Element::SUM,                                       \
   convolveBuffers<Element::FACTOR, Element::SUM>}
static constexpr ConvolveEntry convolveFunctions[] = {
    FAD_CONVOLVE("f32", f32, f32),    FAD_CONVOLVE("f64", f64, f64),
    FAD_CONVOLVE("bf16", bf16, bf16), FAD_CONVOLVE("bf16_f32", bf16, f32),
    FAD_CONVOLVE("f16", f16, f16),    FAD_CONVOLVE("f16_f32", f16, f32),
};
#undef FAD_CONVOLVE

void mlir::fad::forEachConvolution(
    llvm::function_ref<void(llvm::StringRef, ConvolveFunction *)> callback) {
  for (const ConvolveEntry &entry : convolveFunctions)
    callback(("_mlir_ciface_fad_convolve_" + llvm::Twine(entry.types)).str(),
             entry.function);
}

/// Whether a library has the convolution of these types and both gradients,
/// tried on small operands.
static bool convolves(Element factor, Element sum) {
  constexpr int64_t channels = 16, side = 6, window = 3;
  std::vector<double> storage[3];
  for (auto &each : storage)
    each.resize(channels * channels * side * side);
  Convolution convolution;
  convolution.factor = factor;
  convolution.sum = sum;
  convolution.inChannels = convolution.outChannels = channels;
  convolution.dims.assign(2, {{side, window, side}, 1, 1, 1});
  int64_t area = side * side, windowArea = window * window;
  convolution.strides[image] = {channels * area, area, side, 1};
  convolution.strides[result] = convolution.strides[image];
  convolution.strides[filter] = {0, channels * windowArea, windowArea, window,
                                 1};
  return llvm::all_of(std::array{image, filter, result}, [&](Role output) {
    convolution.output = output;
    return convolveByOneDNN(
        convolution, {storage[0].data(), storage[1].data(), storage[2].data()});
  });
}

void mlir::fad::addConvolutionTypes(std::vector<std::string> &types) {
  for (const ConvolveEntry &entry : convolveFunctions)
    if (convolves(entry.factor, entry.sum))
      types.push_back(("convolve_" + llvm::Twine(entry.types)).str());
}
