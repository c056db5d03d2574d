//===- Call.h - Calls of libraries by compiled code -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_LIBRARY_CALL_H
#define FAD_LIB_RUNTIME_LIBRARY_CALL_H

#include "Library.h"
#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::fad {

/// The last argument of a call: whether to add to what is in the output, and
/// whether to use one thread only.
inline constexpr int64_t kAccumulate = 1, kOneThread = 2;

/// A buffer of a call.
struct BufferView {
  char *data;
  llvm::ArrayRef<int64_t> sizes, strides;

  BufferView(const ::UnrankedMemRefType<char> &descriptor,
             int64_t elementBytes) {
    DynamicMemRefType<char> view(descriptor);
    data = view.data + view.offset * elementBytes;
    sizes = llvm::ArrayRef(view.sizes, view.rank);
    strides = llvm::ArrayRef(view.strides, view.rank);
  }
};

/// A loop, and the operands in which it stands alone, as bits.
struct Loop : Extent {
  unsigned kind = 0;
};

/// The loops that `words` assign to the dimensions of `buffers`. Calls
/// `addWindow` with operand, number and dimension of each window.
llvm::SmallVector<Loop>
findLoops(llvm::ArrayRef<BufferView> buffers, llvm::ArrayRef<int64_t> words,
          llvm::function_ref<void(unsigned, unsigned, size_t)> addWindow);

/// While it lives, the library runs in this thread alone, if `flags` ask for
/// that.
class ThreadLimit {
public:
  explicit ThreadLimit(int64_t flags);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit &) = delete;
  ThreadLimit &operator=(const ThreadLimit &) = delete;

private:
  int before = 0;
};

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_LIBRARY_CALL_H
