//===- Trace.h - Tensors saved and released, by operator ------------------===//
//-*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_TRACE_H
#define FAD_EAGER_TRACE_H

#include "machine/StateMachine.h"
#include <string>

namespace fad::eager {

/// A tensor that an operator of a trace saved or released: a description, as in
/// "derivative", and its bytes.
struct Item {
  std::string what;
  int64_t bytes = 0;
};

/// One line of a trace for each operator.
struct Event {
  std::string name;
  State state = State::NN;
  /// The components that were executed, as in "A B D".
  std::string components;
  std::vector<Item> saved, released;
  std::vector<Item> kept = {}, computed = {};
};

/// The operators of a thread while the trace is on.
class Trace {
public:
  void record(Event event) { events.push_back(std::move(event)); }
  /// Tensors released with a tensor or a node after the last operator.
  void release(Item item);
  /// Values the last operator has computed late: so many operators, and bytes.
  void compute(const std::string &how, size_t operators, int64_t bytes);
  /// Tensors backward finds of a sequence that the last operator has ended.
  void keep(std::string what);
  /// The lines so far, each as in
  ///   YY  mul  A B D  saves derivative 64 B  releases result of sigmoid 64 B
  std::vector<std::string> take();

private:
  std::vector<Event> events;
};

} // namespace fad::eager

#endif // FAD_EAGER_TRACE_H
