//===- SequenceNode.h - The node of a sequence in the graph of backward  -*- C++
//-*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_SEQUENCENODE_H
#define FAD_EAGER_SEQUENCENODE_H

#include "sequence/FewBits.h"
#include "sequence/Path.h"
#include "sequence/Value.h"
#include <atomic>

namespace fad::eager {

/// A value within sequences that have ended, which begin there once something
/// else has saved it.
class Beginning {
public:
  /// Whether the value's memory may have had writes that no version counts.
  std::atomic<bool> isEscaped{false};
  /// Notes that something else has saved the value. Sequences begin there where
  /// that lets go of a source.
  void save(const at::Tensor &value);
  /// Remembers a value whose tensor may go, of which `saveLast` notes the same.
  void setLast(const at::Tensor &value);
  void saveLast();
  /// The value, as long as anything has it, and nothing may have written to it
  /// in silence.
  at::Tensor findSaved() const;

private:
  friend struct SequenceNode;
  /// The sequences that have the value within them, behind a lock of the
  /// process.
  std::vector<SequenceNode *> around;
  mutable std::mutex access;
  std::shared_ptr<const ComputedValue> saved, last;
};

/// Leads from a value to the sources of its sequence. Edges after those lead to
/// the values between, which it skips: no gradient goes there, but a gradient
/// that is asked for makes autograd come here, where it is an error and not a
/// wrong number.
struct SequenceNode final : MortalNode {
  Sources sources;
  /// The derivative so far.
  Held held;
  /// Where backward runs the sequence again: results that it does not compute
  /// then.
  std::vector<at::Tensor> results;
  /// Bits of a derivative with two values, or the numbers of levels.
  at::Tensor bits;
  double values[2] = {0, 0};
  LevelsPtr levels;
  /// The remaining ones of these, once an operator that is no part of the
  /// sequence has read the value.
  bool isFinished = false, isReleased = false;
  /// Whether the operators of the sequence have their own nodes, to which this
  /// one leads.
  bool isLeading = false;
  /// Whether a sequence that goes on from the value keeps the sources.
  bool isCovered = false;
  Beginning beginning;
  /// How many nodes of sequences skip this one's value.
  std::atomic<int64_t> skips{0};
  /// The number of the value's step, or 0; and how many sequences that backward
  /// runs again have the value within them, and before it none of which that
  /// number is greater than 1; and the number of the last of those.
  uint64_t number = 0;
  std::atomic<int64_t> ends{0};
  std::atomic<uint64_t> counted{std::numeric_limits<uint64_t>::max()};
  /// Whether the value is a cast to a wider type of one that is not linear:
  /// gradients of its readers are summed in that, as in eager PyTorch.
  bool isWide = false;

  SequenceNode();
  ~SequenceNode() override;

  void addSource(torch::autograd::Edge edge);
  void skip(torch::autograd::Edge edge);
  /// Also skips wide casts that the node of an operand skips.
  void skipCastsOf(const torch::autograd::Node *operand);
  /// Has backward run these operators again. They lead to the value, or to the
  /// result of the only one that is not linear.
  void runFrom(const StepPtr &steps, bool leadToResult = false);
  /// Whether the derivative has only one operator that is not linear, which
  /// saves its result, and its own node would take the place of the bits, or of
  /// the sources, that are kept.
  bool mayTakeOwn() const;
  /// Keeps such an operator's own node, as something else keeps the result.
  void takeOwn(const NodePtr &own);
  /// The node of such an operator's result, if linear operators follow that;
  /// or null.
  SequenceNode *findResult();
  /// Once the sequence has ended with the node or the bits of such an operator,
  /// and goes on from the result: that one's node keeps the same.
  void shareOwn();
  /// The node of a value within the sequence, or null if that is none.
  SequenceNode *findSkipped(const SequenceNode *within) const;
  /// These, or null; and with the readers of the value.
  StepPtr getSteps() const;
  PathPtr getPath() const;
  void setSteps(StepPtr steps);
  /// Passes a gradient of the value to the last of the operators' own nodes.
  void leadTo(torch::autograd::Edge edge);
  /// Notes, where backward runs the sequence again, which values are within it.
  /// It gets edges to those that others have, too, and so do these. Readers may
  /// compute the value.
  void countEnd(bool hasReaders);
  /// Takes the place of PyTorch's node `own` of a tensor.
  void replace(const torch::autograd::Node &own, const at::Tensor &tensor);
  /// Releases what the derivative takes.
  void drop();
  bool holdsNothing() const;

  std::string name() const override { return "FadBackward"; }
  void finish() override;
  void release() override;
  /// For compiled autograd: see CompiledAutograd.cpp.
  void
  compiled_args(torch::dynamo::autograd::CompiledNodeArgs &args) const override;
  torch::autograd::variable_list
  apply_with_saved(const torch::autograd::variable_list &gradients,
                   torch::dynamo::autograd::SwapSavedVariables &saved) override;
  /// The gradients of the sources for a gradient of the value. In a backward
  /// that `sharesValues`, those of skipped values follow.
  torch::autograd::variable_list
  pull(torch::autograd::variable_list &&gradients, bool sharesValues = false);
  /// The operators again, from the values of nodes that several sequences skip.
  /// These nodes get the gradients of their values in this backward, add them
  /// up, and go on, so that no operator is run again twice.
  std::unique_ptr<Replay> replay(const StepPtr &end);

  /// How many there are in the process.
  static std::atomic<int64_t> live;

protected:
  torch::autograd::variable_list
  apply(torch::autograd::variable_list &&gradients) override;

private:
  friend class Beginning;
  /// Finds values that something may save, or has saved.
  void findWithin();
  /// The own node of the operator that computes the value, where that saves it;
  /// or null.
  NodePtr findOwnOfValue() const;
  /// Begins at those of them that have been saved.
  void beginAtSaved();
  void leaveWithin();
  /// The value, if sequences that have it within them can begin there:
  /// something else has it, and the node its derivative.
  at::Tensor findStart() const;
  /// Calls a function with the nodes of the values within the sequence, from
  /// the last one, and goes on from those that no other has, where it returns
  /// true. Adds edges to the others.
  template <typename Visit> void visitWithin(Visit visit);
  void countWithin();
  /// Whether `finish` was called.
  bool isEnded = false;
  /// Whether the derivative is in bits, of which there are no levels.
  bool hasBits() const { return bits.defined() && !levels; }
  bool mayTakeOwnWhileLocked() const;
  /// Whether the derivative is what one operator saved, or its bits.
  bool keepsOneOperator() const;
  /// Notes that these steps are kept of a sequence that goes on from the value.
  /// A node that keeps what its operator saved, too, lets go of that.
  void cover(const StepPtr &steps);
  /// The lock of all that gives the derivative, `path` and `given` too: a
  /// thread may read it in backward while another one reads a value in forward.
  mutable std::mutex access;
  PathPtr path;
  /// The steps of a value that was shared in a backward.
  StepPtr given;
  /// Of values within the sequence, which it owns; and of casts to a wider type
  /// among its sources.
  std::vector<SequenceNode *> within;
  std::vector<std::shared_ptr<Beginning>> casts;
  std::atomic<uint64_t> walk{0};
  /// An object that stands for the node in a program of compiled autograd.
  mutable at::Tensor handle;

  /// An error instead of a partial gradient, where the gradient of a skipped
  /// value is asked for.
  static void checkSkipped(torch::autograd::Node &node, bool isAskedFor);
  /// Whether sequences that go on from the value leave its gradient to this
  /// node.
  bool isShared() const;
  /// The value, which waits for this node with what gives its derivative.
  at::Tensor shareValue(const StepPtr &steps);
  /// All that gives the derivative in a backward.
  struct Kept {
    StepPtr steps;
    Derivative form;
    NodePtr own;
    at::Tensor tensor, bits;
    bool isReleased, leadsToResult;
  };
  Kept findKept() const;
  std::vector<Source> findPlaces(bool sharesValues) const;
  const torch::autograd::Edge *findNeeded() const;
  at::Tensor multiply(const at::Tensor &gradient, at::Tensor derivative);
  /// By the own node of a first operator that has several sources.
  torch::autograd::variable_list pullOwn(const NodePtr &own,
                                         const at::Tensor &gradient,
                                         const torch::autograd::Edge &needed);
  torch::autograd::variable_list pullSteps(std::unique_ptr<Replay> replay,
                                           const StepPtr &steps,
                                           const at::Tensor &gradient,
                                           const torch::autograd::Edge &needed,
                                           bool sharesValues);
  /// Gradients for the first `most` edges, of those of places. `begins` lead to
  /// the nodes of values at which the steps begin.
  torch::autograd::variable_list
  passOn(const std::vector<Source> &places,
         const torch::autograd::edge_list &begins, size_t most,
         torch::autograd::variable_list &&gradients) const;
};

/// Whether backward will run a node after what it runs now.
bool runsLater(torch::autograd::Node *node);

/// The bytes of a node's value.
int64_t bytesOf(const torch::autograd::Node &node);

/// A tensor like another, of one number.
at::Tensor filled(double number, const at::Tensor &like);

} // namespace fad::eager

#endif // FAD_EAGER_SEQUENCENODE_H
