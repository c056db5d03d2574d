//===- Gemm.cpp - Contractions by a library -------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A contraction is a product of matrices for each index of its other loops. The
// matrices are multiplied by the gemm of oneDNN or OpenBLAS; one whose elements
// do not lie together is copied first. Where a library is missing or takes no
// such sizes, as for a program that comes from the cache, they are multiplied
// by loops.
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"
#include "../HostSymbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

using namespace mlir::fad;

namespace {
/// A loop: its size, and the strides of left factor, right factor and sum, in
/// elements, 0 where they lack it.
struct Extent {
  int64_t size = 1;
  int64_t strides[3] = {0, 0, 0};
};

/// A product of matrices, which is stored, or added to the sum that is there.
struct Product {
  Extent rows, columns, reduction;
  bool accumulate = false;
};

/// A matrix as gemm takes it: by rows, or transposed.
struct Matrix {
  bool transposed;
  int64_t leading;

  Matrix(const Extent &rows, const Extent &columns, unsigned operand)
      : transposed(columns.strides[operand] != 1),
        leading(transposed ? columns.strides[operand] : rows.strides[operand]) {
    leading =
        std::max<int64_t>({leading, transposed ? rows.size : columns.size, 1});
  }
};

/// The functions of the libraries that are there. Both are private to fad,
/// because PyTorch has other versions of them.
struct Libraries {
  template <typename T>
  using CBLAS = void(int order, int transA, int transB, int m, int n, int k,
                     T alpha, const T *a, int lda, const T *b, int ldb, T beta,
                     T *c, int ldc);
  CBLAS<float> *blasF32 = nullptr;
  CBLAS<double> *blasF64 = nullptr;
  int (*oneDNN)(char transA, char transB, int64_t m, int64_t n, int64_t k,
                float alpha, const float *a, int64_t lda, const float *b,
                int64_t ldb, float beta, float *c, int64_t ldc) = nullptr;
  int (*getMaxThreads)() = nullptr;
  void (*setMaxThreads)(int) = nullptr;
  /// Sets how long threads of fad's loops wait for the next loop before they
  /// sleep. Null where they are the library's own.
  void (*setWaitingTime)(int) = nullptr;

  Libraries() {
    // Their loops run in fad's threads where LLVM's OpenMP is the first that
    // the process has loaded.
    loadOpenMP();
    if (void *library =
            open("FAD_ONEDNN_LIBRARY", {"libdnnl.so.3", "libdnnl.so.2"})) {
      oneDNN = find<decltype(oneDNN)>(library, "dnnl_sgemm");
      findThreads(library);
    }
    if (void *library = open("FAD_OPENBLAS_LIBRARY", {"libopenblas.so.0"})) {
      blasF32 = find<decltype(blasF32)>(library, "cblas_sgemm");
      blasF64 = find<decltype(blasF64)>(library, "cblas_dgemm");
      findThreads(library);
    }
    if (reinterpret_cast<void *>(setMaxThreads) !=
        findInOpenMP("omp_set_num_threads"))
      setWaitingTime = reinterpret_cast<decltype(setWaitingTime)>(
          findInOpenMP("kmp_set_blocktime"));
  }
  static const Libraries &get() {
    // Threads may compute while the process ends, so it is not destroyed.
    static const Libraries &libraries = *new Libraries;
    return libraries;
  }
  template <typename T> CBLAS<T> *getBLAS() const {
    if constexpr (std::is_same_v<T, float>)
      return blasF32;
    else
      return blasF64;
  }

private:
  /// The first library of `names`, or that which the variable `variable` of the
  /// environment names; null if it cannot be loaded.
  static void *open(const char *variable, llvm::ArrayRef<const char *> names) {
    constexpr int mode = RTLD_LAZY | RTLD_LOCAL;
    if (const char *path = std::getenv(variable))
      return *path ? dlopen(path, mode) : nullptr;
    for (const char *name : names)
      if (void *library = dlopen(name, mode))
        return library;
    return nullptr;
  }
  template <typename Function>
  static Function find(void *library, const char *name) {
    return reinterpret_cast<Function>(dlsym(library, name));
  }
  /// Finds the functions of OpenMP that `library` calls: those that are visible
  /// to all, or else its own.
  void findThreads(void *library) {
    for (void *scope : {RTLD_DEFAULT, library}) {
      if (!getMaxThreads)
        getMaxThreads =
            find<decltype(getMaxThreads)>(scope, "omp_get_max_threads");
      if (!setMaxThreads)
        setMaxThreads =
            find<decltype(setMaxThreads)>(scope, "omp_set_num_threads");
    }
  }
};

/// While it lives, libraries run in this thread alone, if `isWanted`.
class ThreadLimit {
public:
  explicit ThreadLimit(bool isWanted) {
    const Libraries &libraries = Libraries::get();
    if (!isWanted || !libraries.getMaxThreads || !libraries.setMaxThreads)
      return;
    before = libraries.getMaxThreads();
    libraries.setMaxThreads(1);
  }
  ~ThreadLimit() {
    if (before)
      Libraries::get().setMaxThreads(before);
  }
  ThreadLimit(const ThreadLimit &) = delete;
  ThreadLimit &operator=(const ThreadLimit &) = delete;

private:
  int before = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

/// Multiplies by a library. The elements of each matrix follow each other along
/// one dimension, those of the sum along its rows. Returns false if there is no
/// library for it.
template <typename T>
static bool multiplyByLibrary(const Product &product, const T *left,
                              const T *right, T *sum) {
  Matrix a(product.rows, product.reduction, 0);
  Matrix b(product.reduction, product.columns, 1);
  Matrix c(product.rows, product.columns, 2);
  int64_t m = product.rows.size, n = product.columns.size,
          k = product.reduction.size;
  T beta = product.accumulate;
  const Libraries &libraries = Libraries::get();
  if constexpr (std::is_same_v<T, float>)
    if (libraries.oneDNN &&
        libraries.oneDNN(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m,
                         n, k, 1, left, a.leading, right, b.leading, beta, sum,
                         c.leading) == 0)
      return true;
  // OpenBLAS takes 32-bit sizes. Built for 64 bits, it has another name.
  auto fits = [](int64_t size) {
    return size <= std::numeric_limits<int>::max();
  };
  auto *blas = libraries.getBLAS<T>();
  if (!blas ||
      !llvm::all_of(std::array{m, n, k, a.leading, b.leading, c.leading}, fits))
    return false;
  constexpr int rowMajor = 101, plain = 111, transposed = 112;
  blas(rowMajor, a.transposed ? transposed : plain,
       b.transposed ? transposed : plain, m, n, k, 1, left, a.leading, right,
       b.leading, beta, sum, c.leading);
  return true;
}

/// Multiplies matrices of any strides by loops.
template <typename T>
static void multiplyByLoops(const Product &product, const T *left,
                            const T *right, T *sum) {
  const auto &[rows, columns, reduction, accumulate] = product;
  for (int64_t i = 0; i < rows.size; ++i)
    for (int64_t j = 0; j < columns.size; ++j) {
      T &at = sum[i * rows.strides[2] + j * columns.strides[2]];
      double total = accumulate ? at : 0;
      for (int64_t k = 0; k < reduction.size; ++k)
        total += double(left[i * rows.strides[0] + k * reduction.strides[0]]) *
                 right[k * reduction.strides[1] + j * columns.strides[1]];
      at = total;
    }
}

/// Gives dimensions of size 1 the stride that they had in a matrix without
/// gaps. Returns whether a library takes the matrix: one stride is 1, and the
/// other is not less than the size of that dimension.
static bool normalize(Extent &first, Extent &second, unsigned operand) {
  int64_t &a = first.strides[operand], &b = second.strides[operand];
  if (first.size == 1 && second.size == 1)
    a = b = 1;
  else if (first.size == 1)
    a = b == 1 ? second.size : 1;
  else if (second.size == 1)
    b = a == 1 ? first.size : 1;
  return (b == 1 && a >= second.size) || (a == 1 && b >= first.size);
}

namespace {
/// A copy of a matrix without gaps, which takes its place in a product.
template <typename T> class Packed {
public:
  Packed(T *&data, Extent &first, Extent &second, unsigned operand)
      : original(data), rows(first.size), columns(second.size),
        rowStride(first.strides[operand]),
        columnStride(second.strides[operand]) {
    int64_t bytes = std::max<int64_t>(rows * columns, 1) * sizeof(T);
    copy.reset(static_cast<T *>(std::malloc(bytes)));
    data = copy.get();
    first.strides[operand] = columns;
    second.strides[operand] = 1;
  }
  void read() {
    forEach([](T &own, T &other) { own = other; });
  }
  void write() {
    forEach([](T &own, T &other) { other = own; });
  }

private:
  template <typename Body> void forEach(Body body) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        body(copy.get()[i * columns + j],
             original[i * rowStride + j * columnStride]);
  }

  struct Free {
    void operator()(T *block) const { std::free(block); }
  };
  T *original;
  int64_t rows, columns, rowStride, columnStride;
  std::unique_ptr<T, Free> copy;
};
} // namespace

/// Exchanges left and right, and rows and columns: the transposed product.
template <typename T>
static void transpose(Product &product, T *&left, T *&right) {
  std::swap(product.rows, product.columns);
  std::swap(left, right);
  for (Extent *extent : {&product.rows, &product.columns, &product.reduction})
    std::swap(extent->strides[0], extent->strides[1]);
}

/// Multiplies matrices of any strides.
template <typename T>
static void multiply(const Product &given, std::array<T *, 3> data) {
  Product product = given;
  auto [left, right, sum] = data;
  auto pack = [](unsigned operand, Extent &first, Extent &second, T *&matrix) {
    std::optional<Packed<T>> packed;
    if (!normalize(first, second, operand))
      packed.emplace(matrix, first, second, operand);
    return packed;
  };
  auto packedSum = pack(2, product.rows, product.columns, sum);
  if (product.columns.strides[2] != 1)
    transpose(product, left, right);
  auto packedLeft = pack(0, product.rows, product.reduction, left);
  auto packedRight = pack(1, product.reduction, product.columns, right);
  // Loops take any strides, and no memory.
  if (!left || !right || !sum)
    return multiplyByLoops<T>(given, data[0], data[1], data[2]);
  for (auto *packed : {&packedLeft, &packedRight, &packedSum})
    if (*packed && (packed != &packedSum || product.accumulate))
      (*packed)->read();
  if (!multiplyByLibrary<T>(product, left, right, sum))
    multiplyByLoops<T>(product, left, right, sum);
  if (packedSum)
    packedSum->write();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// The kinds of loops of a contraction, by the operands that have them.
enum Kind : unsigned { rows = 0b101, columns = 0b110, reduction = 0b011 };

/// A loop, and the operands in which it stands, as bits.
struct Loop : Extent {
  unsigned kind = 0;
};
} // namespace

/// The loops that `words` assign to the dimensions of `buffers`.
template <typename T>
static llvm::SmallVector<Loop>
findLoops(llvm::ArrayRef<DynamicMemRefType<T>> buffers,
          llvm::ArrayRef<int64_t> words) {
  llvm::SmallVector<Loop> loops;
  for (unsigned operand = 0; operand < 3; ++operand) {
    uint64_t word = words[operand];
    for (int64_t dim = 0; dim < buffers[operand].rank; ++dim, word >>= 4) {
      unsigned number = word & 15;
      if (loops.size() <= number)
        loops.resize(number + 1);
      loops[number].size = buffers[operand].sizes[dim];
      loops[number].strides[operand] = buffers[operand].strides[dim];
      loops[number].kind |= 1 << operand;
    }
  }
  return loops;
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
template <typename T>
static void multiplyEach(llvm::ArrayRef<Loop> outer, Product product,
                         std::array<T *, 3> data) {
  if (outer.empty())
    return multiply(product, data);
  const Loop &loop = outer.front();
  for (int64_t i = 0; i < loop.size; ++i) {
    multiplyEach(outer.drop_front(), product, data);
    for (unsigned operand = 0; operand < 3; ++operand)
      data[operand] += loop.strides[operand];
    product.accumulate |= loop.kind == reduction;
  }
}

/// Sets the elements of a sum with `loops` to zero.
template <typename T> static void clear(llvm::ArrayRef<Loop> loops, T *data) {
  if (loops.empty()) {
    *data = 0;
    return;
  }
  for (int64_t i = 0; i < loops.front().size; ++i)
    clear(loops.drop_front(), data + i * loops.front().strides[2]);
}

//===----------------------------------------------------------------------===//
// Functions of compiled code
//===----------------------------------------------------------------------===//

/// The function that compiled code calls.
template <typename T>
static void contract(::UnrankedMemRefType<char> *left,
                     ::UnrankedMemRefType<char> *right,
                     ::UnrankedMemRefType<char> *output, int64_t leftLoops,
                     int64_t rightLoops, int64_t outputLoops, int64_t flags) {
  ThreadLimit limit(flags & 2);
  // Threads of two runtimes would take the processor from each other, waiting.
  // The time is this thread's own, and that of its loops: others keep theirs.
  if (static thread_local bool isSet = false;
      !std::exchange(isSet, true) && Libraries::get().setWaitingTime)
    Libraries::get().setWaitingTime(0);
  llvm::SmallVector<DynamicMemRefType<T>, 3> buffers;
  std::array<T *, 3> data;
  for (auto [operand, descriptor] :
       llvm::enumerate(std::array{left, right, output})) {
    // Descriptors differ in the type of their pointers alone.
    buffers.emplace_back(
        *reinterpret_cast<::UnrankedMemRefType<T> *>(descriptor));
    data[operand] = buffers.back().data + buffers.back().offset;
  }
  llvm::SmallVector<Loop> loops =
      findLoops<T>(buffers, {leftLoops, rightLoops, outputLoops});
  Product product;
  product.accumulate = flags & 1;
  if (llvm::any_of(loops, [](const Loop &loop) { return loop.size == 0; })) {
    llvm::erase_if(loops,
                   [](const Loop &loop) { return loop.kind == reduction; });
    if (!product.accumulate)
      clear<T>(loops, data[2]);
    return;
  }
  join(loops);
  product.rows = take(loops, rows);
  product.columns = take(loops, columns);
  product.reduction = take(loops, reduction);
  multiplyEach<T>(loops, product, data);
}

void mlir::fad::forEachContraction(
    llvm::function_ref<void(llvm::StringRef, ContractFunction *)> callback) {
  callback("_mlir_ciface_fad_contract_f32", contract<float>);
  callback("_mlir_ciface_fad_contract_f64", contract<double>);
}

llvm::ArrayRef<std::string> mlir::fad::getLibraryTypes() {
  // Threads may compile while the process ends, so it is not destroyed.
  static const auto &types = *new std::vector<std::string>([] {
    const Libraries &libraries = Libraries::get();
    std::vector<std::string> found;
    if (libraries.oneDNN || libraries.blasF32)
      found.push_back("f32");
    if (libraries.blasF64)
      found.push_back("f64");
    return found;
  }());
  return types;
}
