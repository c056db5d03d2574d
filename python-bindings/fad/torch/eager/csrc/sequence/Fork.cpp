//===- Fork.cpp - Locks in a child of the process -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Fork.h"
#include <algorithm>
#include <map>
#include <pthread.h>

namespace fad::eager {

/// By ranks, and in each in the order in which they were made.
static std::multimap<Rank, AtFork> &functionsOfRanks() {
  static auto *all = new std::multimap<Rank, AtFork>();
  return *all;
}

static void beforeFork() {
  for (auto &[rank, functions] : functionsOfRanks())
    functions.lock();
}

static void unlockAll() {
  auto &all = functionsOfRanks();
  std::for_each(all.rbegin(), all.rend(),
                [](auto &each) { each.second.unlock(); });
}

static void afterForkInChild() {
  for (auto &[rank, functions] : functionsOfRanks())
    if (functions.inChild)
      functions.inChild();
  unlockAll();
}

void atFork(Rank rank, AtFork functions) {
  static const int failed =
      pthread_atfork(beforeFork, unlockAll, afterForkInChild);
  (void)failed;
  functionsOfRanks().emplace(rank, std::move(functions));
}

ProcessMutex::ProcessMutex(Rank rank, std::function<void()> inChild) {
  atFork(rank, {[this] { lock(); }, [this] { unlock(); }, std::move(inChild)});
}

} // namespace fad::eager
