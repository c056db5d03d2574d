//===- OlderLibstdcxx.cpp - Functions of a later C++ library ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// GCC 12 has a new version of this function, which C++ libraries of GCC 11
// lack, such as that of RHEL 9. The definition is that of libstdc++.

#include <condition_variable>

void std::condition_variable::wait(std::unique_lock<std::mutex> &lock) {
  pthread_cond_wait(native_handle(), lock.mutex()->native_handle());
}
