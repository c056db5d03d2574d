//===- SequenceTest.cpp - Activations through the state machine -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A framework of names and reference counts executes the decisions for the
// activations of the paper, and its trace is compared with the paper's states.
//
//===----------------------------------------------------------------------===//

#include "machine/Trace.h"
#include "gtest/gtest.h"
#include <map>
#include <memory>

using namespace fad::eager;

namespace {

/// Memory that goes with the last reference to it.
struct Buffer {
  Buffer(std::string name, Trace &trace)
      : name(std::move(name)), trace(trace) {}
  ~Buffer() { trace.release({name, 64}); }
  std::string name;
  Trace &trace;
};
using BufferPtr = std::shared_ptr<Buffer>;

/// A tensor: its buffer, and what it has of its own for the derivative.
struct Value {
  BufferPtr buffer;
  bool isFAD = false;
  Derivative derivative = Derivative::Number;
  std::vector<BufferPtr> saved;
};

class Framework {
public:
  Framework() { values["x"].buffer = std::make_shared<Buffer>("x", trace); }

  /// `result = name(operands)`, where `saved` of them and of the result is what
  /// the operator saves.
  void run(std::string name, Kind kind, std::string result,
           std::vector<std::string> operands, std::vector<std::string> saved) {
    std::vector<Operand> known;
    for (const std::string &operand : operands) {
      const Value &value = values.at(operand);
      known.push_back(
          {{value.isFAD ? static_cast<const void *>(&value) : &source, 0},
           value.isFAD,
           {{&source, 0}},
           value.derivative,
           false});
    }
    Decision decision = decide(Policy::Fad, Operation{kind}, known);
    Event event = {
        name, decision.state, std::string(components(decision.state)), {}, {}};
    Value &value = values[result];
    value.buffer = std::make_shared<Buffer>(result, trace);
    value.isFAD = decision.isFAD();
    value.derivative = decision.derivative;
    if (decision.derivative == Derivative::Tensor) {
      value.saved = {std::make_shared<Buffer>("d" + result, trace)};
    } else if (decision.derivative == Derivative::Operator) {
      if (kind == Kind::Linear)
        value.saved = values.at(operands.front()).saved;
      else
        for (const std::string &each : saved)
          value.saved.push_back(values.at(each).buffer);
    }
    for (const BufferPtr &buffer : value.saved)
      event.saved.push_back({buffer->name, 64});
    trace.record(std::move(event));
  }
  /// The program has no use for a value any more.
  void drop(const std::string &name) { values.erase(name); }
  /// An nfad operator reads a value, whose node takes what the tensor has.
  void end(const std::string &name) {
    Value &value = values.at(name);
    Decision decision = decide(
        Policy::Fad, Operation{Kind::Other},
        {{{&value, 0}, value.isFAD, {{&source, 0}}, value.derivative, false}});
    trace.record({"matmul",
                  decision.state,
                  std::string(components(decision.state)),
                  {},
                  {}});
    kept = value.saved;
    while (!values.empty())
      values.erase(values.begin());
  }

  int source = 0;
  Trace trace;
  std::map<std::string, Value> values;
  std::vector<BufferPtr> kept;
};

/// The states of a trace, as in "NY YY YN".
std::string states(const std::vector<std::string> &lines) {
  std::string all;
  for (const std::string &line : lines)
    all += (all.empty() ? "" : " ") + line.substr(0, 2);
  return all;
}

TEST(Sequence, SiLU) {
  Framework f;
  f.run("sigmoid", Kind::Nonlinear, "s", {"x"}, {"s"});
  f.run("mul", Kind::Product, "y", {"x", "s"}, {"x", "s"});
  f.drop("s");
  f.end("y");
  std::vector<std::string> expected = {
      "NY  sigmoid  A D  saves s 64 B",
      "YY  mul  A B D  saves dy 64 B  releases s 64 B",
      "YN  matmul  A B C D  releases x 64 B, y 64 B",
  };
  EXPECT_EQ(f.trace.take(), expected);
  ASSERT_EQ(f.kept.size(), 1u);
  EXPECT_EQ(f.kept[0]->name, "dy");
}

TEST(Sequence, GELU) {
  Framework f;
  f.run("pow", Kind::Nonlinear, "a", {"x"}, {"x"});
  f.run("mul", Kind::Linear, "b", {"a"}, {});
  f.drop("a");
  f.run("add", Kind::Linear, "c", {"x", "b"}, {});
  f.drop("b");
  f.run("mul", Kind::Linear, "d", {"c"}, {});
  f.drop("c");
  f.run("tanh", Kind::Nonlinear, "e", {"d"}, {"e"});
  f.drop("d");
  f.run("add", Kind::Linear, "g", {"e"}, {});
  f.drop("e");
  f.run("mul", Kind::Linear, "h", {"x"}, {});
  f.run("mul", Kind::Product, "y", {"h", "g"}, {"h", "g"});
  f.drop("h");
  f.drop("g");
  f.end("y");
  ASSERT_EQ(f.kept.size(), 1u);
  EXPECT_EQ(f.kept[0]->name, "dy");
  EXPECT_EQ(states(f.trace.take()), "NY YY YY YY YY YY NY YY YN");
}

TEST(Sequence, Mish) {
  Framework f;
  f.run("softplus", Kind::Nonlinear, "a", {"x"}, {"x"});
  f.run("tanh", Kind::Nonlinear, "b", {"a"}, {"b"});
  f.drop("a");
  f.run("mul", Kind::Product, "y", {"x", "b"}, {"x", "b"});
  f.drop("b");
  f.end("y");
  std::vector<std::string> expected = {
      "NY  softplus  A D  saves x 64 B",
      "YY  tanh  A B D  saves db 64 B  releases a 64 B",
      "YY  mul  A B D  saves dy 64 B  releases b 64 B, db 64 B",
      "YN  matmul  A B C D  releases x 64 B, y 64 B",
  };
  std::vector<std::string> lines = f.trace.take();
  ASSERT_EQ(lines.size(), expected.size());
  EXPECT_EQ(states(lines), "NY YY YY YN");
  EXPECT_EQ(lines[0], expected[0]);
  EXPECT_EQ(lines[1], expected[1]);
  ASSERT_EQ(f.kept.size(), 1u);
  EXPECT_EQ(f.kept[0]->name, "dy");
}

TEST(Sequence, OneOperatorKeepsWhatItSaved) {
  Framework f;
  f.run("tanh", Kind::Nonlinear, "y", {"x"}, {"y"});
  f.end("y");
  std::vector<std::string> expected = {"NY  tanh  A D  saves y 64 B",
                                       "YN  matmul  A B C D  releases x 64 B"};
  EXPECT_EQ(f.trace.take(), expected);
  ASSERT_EQ(f.kept.size(), 1u);
  EXPECT_EQ(f.kept[0]->name, "y");
}

} // namespace
