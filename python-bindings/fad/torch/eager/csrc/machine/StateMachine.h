//===- StateMachine.h - The effect of an operator on a sequence -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where operators arrive one by one, a finite state machine decides whether
// each of them starts, continues, or ends a sequence whose derivative is
// computed in forward mode. This file has the decisions alone: they depend on
// what is known about the operands, and on nothing of a framework.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_STATEMACHINE_H
#define FAD_EAGER_STATEMACHINE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace fad::eager {

/// Fad is the paper's policy: what remains of a sequence is its derivative.
/// Auto keeps what takes the fewest bytes.
enum class Policy : uint8_t { Fad, Auto };

/// The state of an operator: whether it has a fad operand, and whether it is a
/// fad operator itself. NY starts a sequence, YY continues it, YN ends it.
enum class State : uint8_t { NN, NY, YY, YN };

/// The function that an operator is of its differentiable operands.
enum class Kind : uint8_t {
  /// No elementwise function: nfad.
  Other,
  /// A sum of the operands, each times a number, plus a constant.
  Linear,
  /// A function of one operand that is linear on each of two intervals.
  Piecewise,
  /// The product of two operands.
  Product,
  /// Any other elementwise function.
  Nonlinear,
  /// A function of rows, as a normalization, whose derivative is no tensor of
  /// the same shape.
  Rowwise
};

/// In which form the derivative of a value with respect to its source is there.
enum class Derivative : uint8_t {
  /// A number, as after a linear operator.
  Number,
  /// Tensors that one operator saved for its backward function, and a number.
  Operator,
  /// A tensor.
  Tensor,
  /// The operators that lead from the sources to the value.
  Steps
};

/// An edge for a gradient of a value in the graph of backward: a node, and
/// which of its inputs.
struct Source {
  const void *node = nullptr;
  uint32_t input = 0;
  /// The memory that is kept with the value; none for a leaf, which autograd
  /// holds.
  const void *memory = nullptr;
  int64_t bytes = 0;
  /// Of the result of a cast to a wider type: where the gradient of the cast's
  /// operand goes, whose memory is kept.
  const void *root = nullptr;
  uint32_t rootInput = 0;
  /// Whether that operand is the root itself, and no value computed from it.
  bool isCopy = false;
  /// Whether another sequence, which has ended, begins there, too: gradients
  /// are summed in the wider type, as in eager PyTorch.
  bool isShared = false;

  bool isWidened() const { return root; }
  bool isWidenedFrom(const Source &other) const {
    return root && root == other.node && rootInput == other.input;
  }
  friend bool operator==(const Source &a, const Source &b) {
    return a.node == b.node && a.input == b.input;
  }
  friend bool operator!=(const Source &a, const Source &b) { return !(a == b); }
};

/// The sources of a value, at most `most`; a further one says that there are
/// more, for which there is no sequence. They have no memory of their own.
class Sources {
public:
  static constexpr size_t most = 4;

  Sources() = default;
  Sources(std::initializer_list<Source> sources) {
    for (const Source &source : sources)
      push_back(source);
  }

  void push_back(const Source &source) { all[count++] = source; }
  /// The bytes of all, which may be parts of the same memory.
  int64_t bytes() const {
    int64_t sum = 0;
    for (const Source &source : *this)
      if (source.memory &&
          std::find_if(begin(), &source, [&](const Source &other) {
            return other.memory == source.memory;
          }) == &source)
        sum += source.bytes;
    return sum;
  }
  /// Whether a cast to a wider type has computed one.
  bool areWidened() const {
    return std::any_of(begin(), end(),
                       [](const Source &each) { return each.isWidened(); });
  }
  /// Leaves those out of which the operand of the cast comes from another.
  /// Gradients of that are summed as in eager PyTorch where one sequence has
  /// all. With `ofCopies`, a derivative with respect to one that is left out is
  /// one with respect to the other, too.
  void joinWidened(bool ofCopies) {
    if (!areWidened())
      return;
    const Sources before = *this;
    count = static_cast<size_t>(
        std::copy_if(before.begin(), before.end(), all,
                     [&](const Source &each) {
                       if (ofCopies ? !each.isCopy : each.isShared)
                         return true;
                       return std::none_of(before.begin(), before.end(),
                                           [&](const Source &other) {
                                             return each.isWidenedFrom(other);
                                           });
                     }) -
        all);
  }
  void clear() { count = 0; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  const Source *data() const { return all; }
  const Source *begin() const { return all; }
  const Source *end() const { return all + count; }
  const Source &front() const { return all[0]; }
  const Source &operator[](size_t i) const { return all[i]; }
  friend bool operator==(const Sources &a, const Sources &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  Source all[most + 1];
  size_t count = 0;
};

/// Facts about a differentiable operand. The four parameters of the
/// paper are isFAD, saved_tensors and fad_tensors, which are in `derivative`
/// (both are on the tensor), and src_node, which is in `sources`.
struct Operand {
  /// Where a gradient of the operand goes.
  Source self;
  bool isFAD = false;
  Sources sources;
  Derivative derivative = Derivative::Number;
  /// Of Derivative::Operator: a number of the operator, or 0.
  uint64_t operatorNumber = 0;
  /// Whether each operator of the sequence is linear or piecewise linear.
  bool isPiecewise = true;
  /// Bytes that the nodes of the sequence's operators save at least in eager
  /// PyTorch, and that no derivative has taken the place of.
  int64_t saved = 0;
  /// Whether an operator that ends a sequence has read the value, and backward
  /// cannot run its operators again.
  bool isRead = false;
};

/// A view of operands, whose memory the caller owns.
class Operands {
public:
  Operands(const Operand *all, size_t count) : all(all), count(count) {}
  Operands(const std::vector<Operand> &all)
      : Operands(all.data(), all.size()) {}
  Operands(std::initializer_list<Operand> all)
      : Operands(all.begin(), all.size()) {}

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  const Operand *begin() const { return all; }
  const Operand *end() const { return all + count; }
  const Operand &front() const { return all[0]; }

private:
  const Operand *all;
  size_t count;
};

/// The decision on an operator. Of the paper's actions, each state has A, which
/// computes the value, and D, which sets the parameters of the result.
struct Decision {
  State state = State::NN;
  /// Of the result, where it is a fad tensor: the heads of its sequence.
  Sources sources;
  Derivative derivative = Derivative::Number;
  bool isPiecewise = true;
  int64_t saved = 0;
  /// Those of `saved` but the result, which a reader may save as well.
  int64_t paid = 0;

  bool isFAD() const { return state == State::NY || state == State::YY; }
  /// B: the derivative of the result is computed now.
  bool derives() const {
    return state == State::YY && derivative == Derivative::Tensor;
  }
};

/// Facts about an operator.
struct Operation {
  Kind kind = Kind::Other;
  /// Whether the result has another type, or another shape, than an operand, so
  /// that the gradient of that is rounded, or summed.
  bool rounds = false, sums = false;
  /// Bytes of the operands and of the result that its node saves in eager
  /// PyTorch. Those of leaves and constants count as none.
  int64_t savedOperands = 0, savedResult = 0;
  int64_t result = 0; ///< bytes
  /// Bytes of the constants of all operators so far that no node saves there,
  /// and that backward needs to run the operators again.
  int64_t constants = 0;
  /// Whether it is a cast to a wider type, to whose result gradients go.
  bool widens = false;
};

/// The kind as which a policy treats an operator.
Kind kindOf(Policy policy, const Operation &operation);

/// The transition of an operator on differentiable operands. Operands that need
/// no gradient are constants and are left out. Backward runs no operators again
/// from tensors that take more bytes than those that the nodes save in eager
/// PyTorch beside the value, which a reader may save as well, and no derivative
/// that takes more takes their place.
Decision decide(Policy policy, const Operation &operation, Operands operands);

/// Tensors that an operator saves for its backward node. Of a product with a
/// constant tensor, that is the constant alone.
enum class Saves : uint8_t { Nothing, Input, Result, Constant };

/// Facts about a fad tensor when an nfad operator reads it.
struct Ending {
  Derivative derivative = Derivative::Number;
  bool isPiecewise = true;
  /// Of Derivative::Operator: what the operator saves, whether its input is the
  /// source, and whether its result is the value.
  Saves saves = Saves::Nothing;
  bool isFirst = false, isLast = false;
  /// Whether the reader saves the value, and can take a recomputed one instead.
  bool readerSaves = false;
  /// Whether the derivative may be kept in few bits, and has levels.
  bool hasLevels = false;
  /// Whether the sequence is one operator, and whether a source is kept in a
  /// narrower type than it is read in.
  bool isSingle = false, isWidened = false;
  /// Whether multiples of the one nonlinear operator's result, or one and a
  /// multiple of the source, are summed.
  bool isSum = false;
  /// Bytes of the sources and of the value, and those that nodes save at least
  /// in eager PyTorch; and of the constants that they do not save.
  int64_t sources = 0, value = 0, saved = 0, constants = 0;
  /// Those of `saved` but the value.
  int64_t paid = 0;

  bool savesValue() const { return saves == Saves::Result && isLast; }
  /// The bytes from which backward runs the operators again.
  int64_t inputs() const { return sources + constants; }
  /// The bytes that nodes save in eager PyTorch, the reader's among them.
  int64_t eager() const { return readerSaves ? paid + value : saved; }
};

/// Tensors that backward finds of a sequence.
enum class Kept : uint8_t {
  /// A number.
  Number,
  /// Tensors that its only nonlinear operator saved.
  Operator,
  /// Those that all of its operators saved.
  Operators,
  Tensor,
  /// A bit for each element, where the derivative has two values.
  Bits,
  /// The number of a level for each element.
  Levels,
  Sources
};

struct Choice {
  Kept kept = Kept::Number;
  /// The value that the reader saves is released, and computed again in
  /// backward.
  bool recomputes = false;
};

/// C: what a sequence leaves for backward.
Choice finish(Policy policy, const Ending &ending);

/// The same of a sequence that is computed as a whole. Its value, and the
/// gradient of its source, take a kernel each, so that the source is kept where
/// what an operator saves takes no fewer bytes.
Choice finishWhole(Policy policy, const Ending &ending);

/// Whether the value is a result that its operator saves: a reader of which
/// nothing is known may save it as well.
bool waitsForReader(const Ending &ending);
/// A choice that takes the place of `choice` once the reader is known not to
/// save the value.
Choice finishUnsaved(const Ending &ending, const Choice &choice);

/// Why `choice` is left of a sequence, as a part of a sentence.
std::string_view reason(Policy policy, const Ending &ending,
                        const Choice &choice);

std::string_view name(State state);
std::string_view name(Kept kept);
/// The components of the paper that a state executes, as in "A B D".
std::string_view components(State state);

} // namespace fad::eager

#endif // FAD_EAGER_STATEMACHINE_H
