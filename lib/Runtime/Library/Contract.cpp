//===- Contract.cpp - Contractions of compiled code -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contract.h"
#include "../HostSymbols.h"
#include "Call.h"
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>

using namespace mlir::fad;

namespace {
/// The kinds of loops of a contraction, by the operands that have them.
enum Kind : unsigned {
  rows = 0b101,
  columns = 0b110,
  reduction = 0b011,
  batch = 0b111
};
} // namespace

llvm::SmallVector<Loop> mlir::fad::findLoops(
    llvm::ArrayRef<BufferView> buffers, llvm::ArrayRef<int64_t> words,
    llvm::function_ref<void(unsigned, unsigned, size_t)> addWindow) {
  constexpr unsigned window = 14;
  llvm::SmallVector<Loop> loops;
  unsigned numWindows = 0;
  for (unsigned operand = 0; operand < 3; ++operand) {
    uint64_t word = words[operand];
    for (auto [dim, size] : llvm::enumerate(buffers[operand].sizes)) {
      unsigned number = word & 15;
      word >>= 4;
      if (number == window) {
        addWindow(operand, numWindows++, dim);
        continue;
      }
      if (loops.size() <= number)
        loops.resize(number + 1);
      loops[number].size = size;
      loops[number].strides[operand] = buffers[operand].strides[dim];
      loops[number].kind |= 1 << operand;
    }
  }
  return loops;
}

ThreadLimit::ThreadLimit(int64_t flags) {
  if (flags & kOneThread)
    before = setMaxThreads(1);
}

ThreadLimit::~ThreadLimit() {
  if (before)
    setMaxThreads(before);
}

/// Joins loops of one kind along which the elements of every operand follow
/// each other.
static void join(llvm::SmallVectorImpl<Loop> &loops) {
  llvm::erase_if(loops, [](const Loop &loop) { return loop.size == 1; });
  auto largestFirst = [](const Loop &a, const Loop &b) {
    auto get = [](const Loop &loop) {
      return std::tuple(loop.kind, -loop.strides[0], -loop.strides[1],
                        -loop.strides[2]);
    };
    return get(a) < get(b);
  };
  std::stable_sort(loops.begin(), loops.end(), largestFirst);
  for (size_t i = 0; i + 1 < loops.size();) {
    Loop &outer = loops[i], &inner = loops[i + 1];
    bool follow = outer.kind == inner.kind;
    for (unsigned operand = 0; operand < 3; ++operand)
      follow &= outer.strides[operand] == inner.strides[operand] * inner.size;
    if (!follow) {
      ++i;
      continue;
    }
    inner.size *= outer.size;
    loops.erase(&outer);
  }
}

/// Takes the loop of `kind` out of `loops` that makes the largest matrix.
static Extent take(llvm::SmallVectorImpl<Loop> &loops, unsigned kind) {
  auto best = loops.end();
  for (auto loop = loops.begin(); loop != loops.end(); ++loop)
    if (loop->kind == kind && (best == loops.end() || loop->size > best->size))
      best = loop;
  if (best == loops.end())
    return {};
  Extent extent = *best;
  loops.erase(best);
  return extent;
}

/// Multiplies for each index of `outer`. Each index of a reduction but the
/// first adds to what is there.
static void multiplyEach(llvm::ArrayRef<Loop> outer, Product &product,
                         std::array<char *, 3> data) {
  if (outer.empty())
    return multiply(product, data[0], data[1], data[2]);
  const Loop &loop = outer.front();
  bool accumulate = product.accumulate;
  for (int64_t i = 0; i < loop.size; ++i) {
    multiplyEach(outer.drop_front(), product, data);
    for (unsigned operand = 0; operand < 3; ++operand)
      data[operand] += loop.strides[operand] *
                       getBytes(operand == 2 ? product.sum : product.factor);
    product.accumulate |= loop.kind == reduction;
  }
  product.accumulate = accumulate;
}

/// Sets the elements of a buffer with `loops` to zero.
static void clear(llvm::ArrayRef<Loop> loops, char *data, int64_t bytes) {
  if (loops.empty()) {
    std::memset(data, 0, bytes);
    return;
  }
  for (int64_t i = 0; i < loops.front().size; ++i)
    clear(loops.drop_front(), data + i * loops.front().strides[2] * bytes,
          bytes);
}

/// Elements without gaps, in f32, in the place of those of a sum of 16 bits.
class WideSum {
public:
  WideSum(Element element, char *narrow, llvm::ArrayRef<Extent *> extents)
      : element(element), narrow(narrow) {
    int64_t count = 1;
    for (Extent *extent : extents) {
      Extent pair;
      pair.size = extent->size;
      pair.strides[0] = extent->strides[2];
      pair.strides[1] = extent->strides[2] = count;
      dims.push_back(pair);
      count *= extent->size;
    }
    wide.reset(new (std::nothrow) float[count]);
  }
  /// The elements; null if there is no memory for them.
  char *getData() { return reinterpret_cast<char *>(wide.get()); }
  void read() {
    forEach([&](int64_t from, int64_t to) {
      wide[to] = loadElement(element, narrow, from);
    });
  }
  void write() {
    forEach([&](int64_t to, int64_t from) {
      storeElement(element, narrow, to, wide[from]);
    });
  }

private:
  template <typename Body>
  void forEach(Body body, size_t dim = 0, int64_t first = 0,
               int64_t second = 0) {
    if (dim == dims.size())
      return body(first, second);
    for (int64_t i = 0; i < dims[dim].size; ++i)
      forEach(body, dim + 1, first + i * dims[dim].strides[0],
              second + i * dims[dim].strides[1]);
  }

  Element element;
  char *narrow;
  llvm::SmallVector<Extent> dims;
  std::unique_ptr<float[]> wide;
};

static bool isReduction(const Loop &loop) { return loop.kind == reduction; }
static bool isBatch(const Loop &loop) { return loop.kind == batch; }

/// Multiplies the matrices of `product` for each index of `outer`. The sum of
/// several reductions is rounded once.
static void multiplyAll(Product &product, llvm::MutableArrayRef<Loop> outer,
                        std::array<char *, 3> data) {
  bool isNarrow = product.sum == Element::bf16 || product.sum == Element::f16;
  if (!isNarrow || !llvm::any_of(outer, isReduction))
    return multiplyEach(outer, product, data);
  // Strides of a wide sum take the place of those of the narrow one.
  Product narrowProduct = product;
  llvm::SmallVector<Loop> narrowOuter(outer);
  llvm::SmallVector<Extent *> extents = {&product.columns, &product.rows};
  for (Extent &extent : product.batch)
    extents.push_back(&extent);
  for (Loop &loop : outer)
    if (!isReduction(loop))
      extents.push_back(&loop);
  WideSum sum(product.sum, data[2], extents);
  // Without memory, each reduction rounds.
  if (!sum.getData())
    return multiplyEach(narrowOuter, narrowProduct, data);
  if (product.accumulate)
    sum.read();
  product.sum = Element::f32;
  multiplyEach(outer, product, {data[0], data[1], sum.getData()});
  sum.write();
}

static void contract(Element factor, Element sum,
                     llvm::ArrayRef<::UnrankedMemRefType<char> *> descriptors,
                     llvm::ArrayRef<int64_t> words, int64_t flags) {
  ThreadLimit limit(flags);
  bool accumulate = flags & kAccumulate;
  llvm::SmallVector<BufferView, 3> buffers;
  for (auto [operand, descriptor] : llvm::enumerate(descriptors))
    buffers.emplace_back(*descriptor, getBytes(operand == 2 ? sum : factor));
  llvm::SmallVector<Loop> loops =
      findLoops(buffers, words, [](unsigned, unsigned, size_t) {
        llvm_unreachable("a contraction has no windows");
      });
  if (llvm::any_of(loops, [](const Loop &loop) { return loop.size == 0; })) {
    llvm::erase_if(loops, isReduction);
    if (!accumulate)
      clear(loops, buffers[2].data, getBytes(sum));
    return;
  }
  join(loops);
  Product product;
  product.factor = factor;
  product.sum = sum;
  product.accumulate = accumulate;
  product.rows = take(loops, rows);
  product.columns = take(loops, columns);
  product.reduction = take(loops, reduction);
  constexpr size_t maxBatch = 4;
  while (product.batch.size() < maxBatch && llvm::any_of(loops, isBatch))
    product.batch.push_back(take(loops, batch));
  multiplyAll(product, loops,
              {buffers[0].data, buffers[1].data, buffers[2].data});
}

//===----------------------------------------------------------------------===//
// Functions of compiled code
//===----------------------------------------------------------------------===//

/// What the compiled code calls.
template <Element factor, Element sum>
static void contractBuffers(::UnrankedMemRefType<char> *left,
                            ::UnrankedMemRefType<char> *right,
                            ::UnrankedMemRefType<char> *output,
                            int64_t leftLoops, int64_t rightLoops,
                            int64_t outputLoops, int64_t flags) {
  contract(factor, sum, {left, right, output},
           {leftLoops, rightLoops, outputLoops}, flags);
}

namespace {
struct Function {
  const char *types;
  Element factor, sum;
  ContractFunction *function;
};
} // namespace

#define FAD_CONTRACT(TYPES, FACTOR, SUM)                                       \
  {TYPES, Element::FACTOR, Element::SUM,                                       \
   contractBuffers<Element::FACTOR, Element::SUM>}
static constexpr Function contractFunctions[] = {
    FAD_CONTRACT("f32", f32, f32),    FAD_CONTRACT("f64", f64, f64),
    FAD_CONTRACT("bf16", bf16, bf16), FAD_CONTRACT("bf16_f32", bf16, f32),
    FAD_CONTRACT("f16", f16, f16),    FAD_CONTRACT("f16_f32", f16, f32),
};
#undef FAD_CONTRACT

void mlir::fad::forEachContraction(
    llvm::function_ref<void(llvm::StringRef, ContractFunction *)> callback) {
  for (const Function &function : contractFunctions)
    callback(("_mlir_ciface_fad_contract_" + llvm::Twine(function.types)).str(),
             function.function);
}

/// Whether a library multiplies elements of these types, tried on a small
/// matrix.
static bool isInLibrary(Element factor, Element sum) {
  constexpr int64_t side = 16;
  double storage[3][side * side] = {};
  Product product;
  product.factor = factor;
  product.sum = sum;
  product.rows = {side, {side, 0, side}};
  product.columns = {side, {0, 1, 1}};
  product.reduction = {side, {1, side, 0}};
  return multiplyByOneDNN(product, storage[0], storage[1], storage[2]) ||
         multiplyByOpenBLAS(product, storage[0], storage[1], storage[2]);
}

llvm::ArrayRef<std::string> mlir::fad::getLibraryTypes() {
  // Threads may compile while the process ends, so it is not destroyed.
  static const auto &types = *new std::vector<std::string>([] {
    // Its loops run in the same threads as fad's.
    loadOpenMP();
    std::vector<std::string> found;
    for (const Function &function : contractFunctions)
      if (isInLibrary(function.factor, function.sum))
        found.push_back(function.types);
    addConvolutionTypes(found);
    return found;
  }());
  return types;
}
