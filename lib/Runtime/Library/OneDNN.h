//===- OneDNN.h - The interface of oneDNN -----------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_LIBRARY_ONEDNN_H
#define FAD_LIB_RUNTIME_LIBRARY_ONEDNN_H

#include "../HostSymbols.h"
#include "Library.h"
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace mlir::fad {

/// Storage for a structure of version 2, or a pointer of version 3. The largest
/// descriptor of an operation, that of a convolution, takes 7 KiB.
template <size_t bytes> struct Storage {
  alignas(64) char words[bytes] = {};
};
using Layout = Storage<1024>;
using Descriptor = Storage<16384>;

/// An operand of a primitive: oneDNN's number for it, its layout as functions
/// take it, and elements.
struct Operand {
  int number;
  const void *layout;
  void *data;
};

/// A primitive of oneDNN. Its descriptor has the layout of the scratch memory.
struct Primitive {
  void *primitive = nullptr;
  void *descriptor = nullptr;
  const void *scratchLayout = nullptr;
  size_t scratchBytes = 0;
};

/// oneDNN's functions. Statuses are 0 for success.
struct OneDNN {
  /// Dimensions of a tensor, at most.
  static constexpr size_t kMaxRank = 12;

  /// The library, or null if it is not there.
  static const OneDNN *get();
  bool load();

  /// Writes the layout of a tensor with `strides`. Returns whether it has one.
  bool describe(Layout &layout, Element element, llvm::ArrayRef<int64_t> sizes,
                llvm::ArrayRef<int64_t> strides) const;
  /// Writes a layout of any order of elements, which a primitive chooses.
  bool describeAny(Layout &layout, Element element,
                   llvm::ArrayRef<int64_t> sizes) const;
  /// Attributes of a primitive: scratch memory is the caller's, so that threads
  /// can share a primitive; and whether to add to the output.
  void *makeAttributes(bool accumulate) const;
  /// What functions take for `layout`.
  const void *getPointer(const Layout &layout) const {
    return version == 2 ? static_cast<const void *>(layout.words)
                        : *reinterpret_cast<void *const *>(layout.words);
  }
  /// The primitive of `descriptor`, which it owns.
  Primitive finish(void *descriptor) const;
  void destroy(const Primitive &primitive) const;
  void destroy(const Layout &layout) const;
  bool execute(const Primitive &primitive,
               llvm::ArrayRef<Operand> operands) const;

  int version = 0;
  void *engine = nullptr;

  // Version 2.
  int (*initByStrides)(void *, int, const int64_t *, int, const int64_t *);
  int (*initByTag)(void *, int, const int64_t *, int, int);
  int (*initMatmul)(void *, const void *, const void *, const void *,
                    const void *);
  int (*createDescriptor)(void **, const void *, const void *, void *,
                          const void *);
  int (*initConvolution)(void *, int, int, const void *, const void *,
                         const void *, const void *, const int64_t *,
                         const int64_t *, const int64_t *, const int64_t *);
  int (*initImageGradient)(void *, int, const void *, const void *,
                           const void *, const int64_t *, const int64_t *,
                           const int64_t *, const int64_t *);
  int (*initFilterGradient)(void *, int, const void *, const void *,
                            const void *, const void *, const int64_t *,
                            const int64_t *, const int64_t *, const int64_t *);
  // Version 3.
  int (*createByStrides)(void **, int, const int64_t *, int, const int64_t *);
  int (*createByTag)(void **, int, const int64_t *, int, int);
  int (*destroyLayout)(void *);
  int (*createMatmul)(void **, void *, const void *, const void *, const void *,
                      const void *, const void *);
  int (*createConvolution)(void **, void *, int, int, const void *,
                           const void *, const void *, const void *,
                           const int64_t *, const int64_t *, const int64_t *,
                           const int64_t *, const void *);
  int (*createImageGradient)(void **, void *, int, const void *, const void *,
                             const void *, const int64_t *, const int64_t *,
                             const int64_t *, const int64_t *, const void *,
                             const void *);
  int (*createFilterGradient)(void **, void *, int, const void *, const void *,
                              const void *, const void *, const int64_t *,
                              const int64_t *, const int64_t *, const int64_t *,
                              const void *, const void *);
  // Both.
  int (*createAttributes)(void **);
  int (*destroyAttributes)(void *);
  int (*setScratchpadMode)(void *, int);
  int (*createPostOps)(void **);
  int (*destroyPostOps)(void *);
  /// Version 2 ignores the last two arguments.
  int (*appendSum)(void *, float, int32_t, int);
  int (*setPostOps)(void *, const void *);
  int (*destroyDescriptor)(void *);
  const void *(*queryLayout)(const void *, int, int);
  int (*query)(const void *, int, int, void *);
  size_t (*getLayoutSize)(const void *);
  int (*areLayoutsEqual)(const void *, const void *);
  int (*createReorder)(void **, const void *, void *, const void *, void *,
                       const void *);
  int (*createPrimitive)(void **, const void *);
  int (*destroyPrimitive)(void *);
  int (*createMemory)(void **, const void *, void *, void *);
  int (*destroyMemory)(void *);
  int (*executePrimitive)(const void *, void *, int, const void *);
  int (*createStream)(void **, void *, unsigned);
  int (*destroyStream)(void *);
  int (*waitForStream)(void *);
};

/// oneDNN's number for the type `element`, or 0 where it has none.
int getCode(Element element);

/// Primitives by what they were made for. Up to `kMaxSize` are kept for later
/// calls, each of some 60 KiB. A call keeps the one that it executes.
template <typename Made> class PrimitiveCache {
public:
  template <typename Create>
  std::shared_ptr<Made> get(llvm::ArrayRef<int64_t> key, Create create) {
    std::vector<int64_t> words(key.begin(), key.end());
    // A primitive divides its work when it is made.
    words.push_back(getMaxThreads());
    std::lock_guard<std::mutex> lock(mutex);
    auto found = entries.find(words);
    if (found != entries.end())
      return found->second;
    // Programs with fixed sizes have few; those with any sizes start again.
    if (entries.size() == kMaxSize)
      entries.clear();
    auto made = std::make_shared<Made>();
    create(*made);
    return entries[words] = std::move(made);
  }

private:
  static constexpr size_t kMaxSize = 256;
  std::mutex mutex;
  std::map<std::vector<int64_t>, std::shared_ptr<Made>> entries;
};

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_LIBRARY_ONEDNN_H
