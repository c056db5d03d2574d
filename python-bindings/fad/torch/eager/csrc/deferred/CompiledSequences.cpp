//===- CompiledSequences.cpp - Kernels of sequences -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/CompiledSequences.h"
#include <chrono>

namespace fad::eager {

CompiledSequences &CompiledSequences::get() {
  return OfProcess<CompiledSequences>::get();
}

CompiledSequence *CompiledSequences::find(const std::string &key) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = sequences.find(key);
  if (found != sequences.end())
    return &found->second;
  return sequences.size() < maxCount ? &sequences[key] : nullptr;
}

/// The key without the number of a GPU.
static std::string withoutNumber(std::string key) {
  size_t end = std::min(key.find('\n'), key.size());
  size_t colon = key.rfind(':', end);
  return colon == std::string::npos ? key : key.erase(colon, end - colon);
}

void CompiledSequences::see(const std::string &key,
                            CompiledSequence &sequence) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!sequence.sightings && expected.count(withoutNumber(key)))
    ++sequence.sightings;
  if (++sequence.sightings != 2 || isStopped)
    return;
  requests.push_back(key);
  ++open;
  wait.notify_one();
}

void CompiledSequences::expect(const std::string &key) {
  std::lock_guard<std::mutex> lock(mutex);
  expected.insert(key);
}

std::string CompiledSequences::takeRequest() {
  std::unique_lock<std::mutex> lock(mutex);
  // `wait`, which C++ libraries before GCC 12 lack in the version of GCC 12,
  // would keep a wheel's extension from these.
  while (!isStopped && requests.empty())
    wait.wait_for(lock, std::chrono::hours(1));
  if (isStopped)
    return {};
  std::string key = std::move(requests.front());
  requests.pop_front();
  return key;
}

void CompiledSequences::stop() {
  std::lock_guard<std::mutex> lock(mutex);
  isStopped = true;
  open -= static_cast<int64_t>(requests.size());
  requests.clear();
  wait.notify_all();
}

bool CompiledSequences::isIdle() {
  std::lock_guard<std::mutex> lock(mutex);
  return open == 0;
}

void CompiledSequences::finish(const std::string &key, Code value,
                               Code derivative, Code gradient,
                               std::vector<int64_t> gradientArguments) {
  std::lock_guard<std::mutex> lock(mutex);
  --open;
  CompiledSequence &sequence = sequences[key];
  if (!value && !sequence.isReady)
    sequence.isImpossible = true;
  if (!value || sequence.isReady)
    return;
  sequence.value = value;
  sequence.derivative = derivative;
  sequence.gradient = gradient;
  sequence.gradientArguments = std::move(gradientArguments);
  sequence.isReady.store(true, std::memory_order_release);
  ++ready;
}

void CompiledSequences::beginAgain() {
  // Its wait is still counted.
  new (&wait) std::condition_variable();
  // The parent compiles what it has asked for; a child may compute none of it.
  requests.clear();
  open = 0;
  for (auto &[key, sequence] : sequences)
    if (!sequence.isReady && sequence.sightings > 1)
      sequence.sightings = 1;
}

int64_t CompiledSequences::countReady() {
  std::lock_guard<std::mutex> lock(mutex);
  return ready;
}

} // namespace fad::eager
