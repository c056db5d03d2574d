//===- Steps.h - Operators that backward runs again ----------- -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_STEPS_H
#define FAD_EAGER_STEPS_H

#include "sequence/Operators.h"
#include "sequence/Release.h"
#include "sequence/SilentWrites.h"
#include "sequence/Weak.h"
#include <ATen/core/dispatch/Dispatcher.h>
#include <atomic>
#include <c10/core/Stream.h>
#include <c10/util/SmallVector.h>
#include <list>
#include <mutex>
#include <unordered_map>

namespace fad::eager {

class Replay;
struct Program;
struct Step;
class Beginning;
using StepPtr = c10::intrusive_ptr<Step>;

/// The kernels of the sequences that an engine has recorded.
class SequenceKernels {
public:
  /// The value of a step, by a kernel; undefined where there is none.
  virtual at::Tensor compute(const StepPtr &end) const = 0;
  /// The gradients of `sources` for a gradient of the value; none where there
  /// is no kernel.
  virtual std::vector<at::Tensor> pull(const StepPtr &end,
                                       const at::Tensor &gradient,
                                       c10::ArrayRef<Source> sources) const = 0;
  /// Whether there is a kernel of these.
  virtual bool hasGradients(const StepPtr &end,
                            c10::ArrayRef<Source> sources) const = 0;

protected:
  ~SequenceKernels() = default;
};

/// Where the value of a step may be found, once it is computed.
class ComputedValue {
public:
  virtual ~ComputedValue() = default;
  /// An alias of the tensor that has the value, as long as there is one.
  virtual at::Tensor find() const = 0;
  /// The same as long as anything has saved the value.
  virtual at::Tensor findSaved() const = 0;
  /// Whether that is in a memory.
  virtual bool isIn(const c10::Storage &memory) const = 0;
};

/// A tensor that shares memory and version with another, without its graph.
at::Tensor aliasOf(const at::Tensor &tensor);

/// A tensor that an operator of a sequence reads.
struct StepInput {
  at::Tensor tensor;
  uint32_t version;
  /// How many silent writes there had been.
  uint64_t silentWrites = countSilentWrites();
  /// Of a source: whether it is a leaf, and whether an operator has computed
  /// it. Other memory, such as that of sharded parameters, may be freed and
  /// filled again for backward.
  bool isLeaf = false, isIntermediate = false;
  /// Of an operator: what it got, of which `tensor` is an alias. Somebody may
  /// call its `requires_grad_` later.
  std::optional<WeakTensor> original = {};
};

/// All of a step that a copy of it has, too.
struct StepFacts {
  /// Orders steps as they were executed.
  uint64_t number = 0;
  /// How many operators lead to the value.
  uint32_t length = 0;
  /// Whether one of them is a cast to a wider type, to whose result gradients
  /// go.
  bool isWide = false;
  /// None for a source.
  std::optional<c10::OperatorHandle> op;
  /// None in the places of operands.
  c10::SmallVector<c10::IValue, 3> arguments;
  /// Places among the arguments, and what is there.
  c10::SmallVector<std::pair<size_t, StepPtr>, 2> operands;
  std::vector<StepInput> constants;

  /// Of the interactive engine: whether the result is a sum of the operands,
  /// each times a number, or a power of the operand, and its type; or the
  /// derivative as a function of the result, which nodes may keep; and whether
  /// this or an earlier step has one.
  bool isSum = false, isPower = false;
  double factors[2] = {1, 1};
  c10::ScalarType type = c10::ScalarType::Undefined;
  Slope slope = Slope::Unknown;
  std::optional<StepInput> result;
  bool hasResults = false;
  std::optional<WeakTensor> kept;

  /// Whether the operator is linear, so that its derivative reads no operand.
  bool isLinear = false;
  /// Of a step that the deferred engine has recorded: the kernels, and the
  /// tensor that the operator's node saves.
  const SequenceKernels *kernels = nullptr;
  Policy policy = Policy::Auto;
  Saves saves = Saves::Nothing;
  /// Of a deferred one: the place of its tensor (`LazyPlace`).
  std::shared_ptr<void> place;

  /// Of a source, or of a cast to a wider type.
  Source source;
  /// Of a source; of a deferred cast to a wider type, its sizes alone.
  StepInput value;
  /// Of a value at which a sequence has come to begin: its node (see Path.h).
  /// And whether that or an earlier step is one.
  NodePtr start;
  bool isMoved = false;
  /// Of a source: whether no derivative reads the elements, which are not kept.
  bool isUnread = false;
  /// Of a cast to a wider type, at which sequences may come to begin.
  std::shared_ptr<Beginning> beginning;

  std::optional<c10::Stream> stream;
};

/// An operator of a sequence with its constants, or a source. Steps hold no
/// value that a sequence computes.
struct Step : c10::intrusive_ptr_target, StepFacts {
  using Constant = StepInput;

  /// Whether a node has kept the result.
  std::atomic<bool> isKept{false};
  /// Kernels that compute the value, once that was asked for.
  std::shared_ptr<Program> program;

  std::mutex access;
  std::shared_ptr<const ComputedValue> computed;
  /// Of a deferred one: PyTorch's own node of the operator, as long as the node
  /// of a sequence has that.
  std::optional<WeakNode> own;

  /// Of a cast to a wider type: how many sequences that begin there have ended.
  std::atomic<int64_t> ends{0};

  /// Weak references to the steps that read one memory; and the places of this
  /// step's own, by the memories of its source or its constants, with the
  /// stream on which it was recorded. See ReadMemory.h.
  using Readers = std::list<c10::weak_intrusive_ptr<Step>>;
  c10::SmallVector<std::pair<const c10::StorageImpl *, Readers::iterator>, 1>
      read;

  /// A replay that a reader needed before the sequence's own node.
  std::mutex mutex;
  std::unique_ptr<Replay> shared;

  Step();
  ~Step() override;
  void release_resources() override;

  /// Remembers where the value is now.
  void setComputed(std::shared_ptr<const ComputedValue> found);
  /// The value, if a tensor still has it, or anything has saved it.
  at::Tensor findComputed(bool isSaved = false);
  /// Whether the value is in a memory.
  bool isComputedIn(const c10::Storage &memory);
  /// Remembers the operator's own node.
  void setOwn(const NodePtr &node);
  /// That, or null.
  NodePtr findOwn();
};

/// Of a deferred sequence, or another one: there, what no operator has computed
/// gets no copy where it is overwritten.
StepPtr recordSource(const at::Tensor &tensor, Source source, bool isDeferred);
/// An operator of the given arguments, of which those at `positions`, in their
/// order, are what `operands` compute.
StepPtr record(const c10::OperatorHandle &op,
               c10::ArrayRef<c10::IValue> arguments,
               c10::ArrayRef<size_t> positions,
               c10::SmallVectorImpl<StepPtr> &operands,
               bool isDeferred = false);

/// Calls a node for a gradient of its result. Where backward was asked for some
/// gradients alone, nodes compute what leads to those; `needed` stands for
/// that.
std::vector<at::Tensor> callNode(torch::autograd::Node &node,
                                 const at::Tensor &gradient,
                                 const torch::autograd::Edge &needed);
/// Whether two tensors are the same elements of memory. A parameter may get
/// other memory, by `.data = `, and keep its node.
bool isSame(const at::Tensor &a, const at::Tensor &b);

/// Values of steps.
using Values = std::unordered_map<Step *, at::Tensor>;

/// Results of a step, without a graph. No kernel computes it from `known`
/// values.
at::Tensor compute(const StepPtr &end, Values known = {});

/// The steps that lead to `end`, in the order in which they were executed. They
/// begin at `known` values, to which those are added, unless told otherwise,
/// that tensors have.
std::vector<Step *> order(const StepPtr &end, Values *known = nullptr,
                          bool addsComputed = true);
/// The step of that number among those that lead to `end`, or null.
StepPtr findStep(const StepPtr &end, uint64_t number);

/// The last steps that lead to `end`, or to the `known` ones, and are casts to
/// a wider type whose results are among `sources`.
std::vector<StepPtr> findWidened(const StepPtr &end,
                                 c10::ArrayRef<Source> sources,
                                 const Values &known = {});

/// Whether a tensor was modified in place after it was recorded, or freed.
bool isModified(const Step::Constant &constant);
/// Fails there.
void checkVersion(const Step::Constant &constant);

/// The tensors that the operators of a sequence got, of which their constants
/// are aliases, as far as those are there.
class Originals {
public:
  Originals() = default;
  /// None of no step. May wait for Python's lock, and so may the destructor: no
  /// lock of a value is held.
  explicit Originals(const StepPtr &end);
  /// Undefined where there is none.
  at::Tensor find(const Step::Constant &constant) const;

private:
  std::vector<at::Tensor> tensors;
};

/// A value within a sequence that another node goes on from in backward.
struct Cut {
  StepPtr step;
  at::Tensor value;
  torch::autograd::Edge edge; ///< of the value's gradient
};

/// Results of a step, with PyTorch's own nodes for its derivative.
class Replay {
public:
  /// Fails where a source or a constant was modified in place. The graph of the
  /// value ends at sources, which are all where none is given, or, where
  /// `edges` has one for each of `sources`, goes on there, and begins at values
  /// at which the sequence is cut. Nodes save `originals` as those of eager
  /// PyTorch do: second derivatives lead to one that requires a gradient by
  /// then, and first ones do not.
  explicit Replay(const StepPtr &end, c10::ArrayRef<Source> sources = {},
                  c10::ArrayRef<torch::autograd::Edge> edges = {},
                  const Originals &originals = {},
                  const std::vector<Cut> &cuts = {});

  /// The same, from the values at which the sequence is cut, where the graph
  /// ends.
  Replay(const StepPtr &end, c10::ArrayRef<Source> sources,
         const std::vector<Cut> &cuts);

  /// The same operators on other numbers, in place of all sources.
  Replay(const StepPtr &end, const at::Tensor &numbers);

  const at::Tensor &value() const { return result; }
  bool isCut() const { return hasCuts; }
  /// The node of the last operator.
  NodePtr last() const { return nodes.back(); }
  /// The gradients of `sources` for a gradient of the value, by the nodes' own
  /// functions, in the order of autograd. It can be called once. `needed` is as
  /// of `callNode`.
  std::vector<at::Tensor> pull(const at::Tensor &gradient,
                               c10::ArrayRef<Source> sources,
                               const torch::autograd::Edge &needed);

  /// As `pull`, with a graph for second derivatives.
  std::vector<at::Tensor> pullWithGraph(const at::Tensor &gradient,
                                        c10::ArrayRef<Source> sources);

private:
  struct Leaf {
    Source source;
    at::Tensor tensor;
    torch::autograd::Edge edge;
  };
  /// The stand-in for a source: one leaf for one tensor.
  at::Tensor lead(Step &step, c10::ArrayRef<Source> sources,
                  c10::ArrayRef<torch::autograd::Edge> edges);
  const Leaf &addLeaf(at::Tensor leaf, const Source &source,
                      c10::ArrayRef<Source> sources,
                      c10::ArrayRef<torch::autograd::Edge> edges);
  /// Adds stand-ins for casts to a wider type that are sources.
  void addWidened(const StepPtr &end, c10::ArrayRef<Source> sources,
                  c10::ArrayRef<torch::autograd::Edge> edges, Values &values);

  /// The gradients of the sources, of those of the leaves.
  std::vector<at::Tensor> collect(const std::vector<at::Tensor> &found,
                                  c10::ArrayRef<Source> sources) const;

  at::Tensor result;
  bool hasCuts = false;
  std::vector<Leaf> leaves;
  /// In the order of execution.
  std::vector<NodePtr> nodes;
};

} // namespace fad::eager

#endif // FAD_EAGER_STEPS_H
