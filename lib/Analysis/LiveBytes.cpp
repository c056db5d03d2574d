//===- LiveBytes.cpp - Bytes in memory over a schedule --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer adds its bytes at its first step and takes them away after its last.
// Sums over these changes are the bytes during each step, in time linear in the
// numbers of buffers and steps.
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/LiveBytes.h"
#include <algorithm>
#include <numeric>

using namespace mlir::fad;

llvm::SmallVector<LiveBytes::Count> LiveBytes::get() const {
  llvm::SmallVector<Count> bytes(changes.size() - 1);
  std::partial_sum(changes.begin(), std::prev(changes.end()), bytes.begin());
  return bytes;
}

LiveBytes::Peak LiveBytes::getPeak() const {
  llvm::SmallVector<Count> bytes = get();
  auto most = std::max_element(bytes.begin(), bytes.end());
  if (most == bytes.end())
    return {};
  return {*most, unsigned(most - bytes.begin())};
}
