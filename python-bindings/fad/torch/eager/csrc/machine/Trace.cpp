//===- Trace.cpp - Tensors saved and released, by operator ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "machine/Trace.h"

namespace fad::eager {

void Trace::release(Item item) {
  if (!events.empty())
    events.back().released.push_back(std::move(item));
}

void Trace::compute(const std::string &how, size_t operators, int64_t bytes) {
  std::string count = std::to_string(operators) +
                      (operators == 1 ? " operator " : " operators ");
  if (!events.empty())
    events.back().computed.push_back({count + how, bytes});
}

void Trace::keep(std::string what) {
  if (!events.empty())
    events.back().kept.push_back({std::move(what), 0});
}

static void print(std::string &line, const char *verb,
                  const std::vector<Item> &items) {
  const char *separator = verb;
  for (const Item &item : items) {
    line += std::string(separator) + item.what;
    if (item.bytes)
      line += " " + std::to_string(item.bytes) + " B";
    separator = ", ";
  }
}

std::vector<std::string> Trace::take() {
  std::vector<std::string> lines;
  for (const Event &event : events) {
    std::string line(name(event.state));
    line += "  " + event.name + "  " + event.components;
    print(line, "  computes ", event.computed);
    print(line, "  saves ", event.saved);
    print(line, "  keeps ", event.kept);
    print(line, "  releases ", event.released);
    lines.push_back(std::move(line));
  }
  events.clear();
  return lines;
}

} // namespace fad::eager
