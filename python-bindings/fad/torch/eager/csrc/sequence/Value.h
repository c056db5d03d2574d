//===- Value.h - The derivative of a fad tensor -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_VALUE_H
#define FAD_EAGER_VALUE_H

#include "sequence/Keys.h"
#include "sequence/Operators.h"
#include "sequence/Steps.h"
#include "sequence/Weak.h"
#include <c10/core/TensorImpl.h>
#include <torch/csrc/autograd/variable.h>

namespace fad::eager {

struct SequenceNode;
class Path;

/// Tensors without a gradient by which operators have multiplied or divided.
using Constants = std::vector<WeakTensor>;
using ConstantsPtr = std::shared_ptr<const Constants>;

/// Memory of tensors that the operators of a sequence read, each once.
struct Memory {
  const void *place;
  int64_t bytes;
};
using MemoriesPtr = std::shared_ptr<const std::vector<Memory>>;
inline int64_t bytesOf(const MemoriesPtr &memories) {
  int64_t sum = 0;
  for (size_t i = 0; memories && i < memories->size(); ++i)
    sum += (*memories)[i].bytes;
  return sum;
}

/// The derivative of a value with respect to its source.
struct Held {
  Derivative form = Derivative::Number;
  /// Of a number, the derivative. Of a tensor or an operator, what is
  /// multiplied by after it; of the latter, also before it, and what is added
  /// then.
  double factor = 1, before = 1, offset = 0;
  /// PyTorch's own node of the operator, and the value that this saves, if it
  /// is one within the sequence.
  NodePtr own;
  std::optional<c10::weak_intrusive_ptr<c10::BackendMeta>> operand;
  Saves saves = Saves::Nothing;
  Slope slope = Slope::Unknown;
  bool isFirst = false, isLast = false;
  /// Of steps: whether they lead to the operator's result, and not to the
  /// value, which is a multiple of that, and the offset.
  bool leadsToResult = false;
  /// Of deferred steps: whether one of them alone is not linear, so that the
  /// above would be a derivative.
  bool isOneOperator = false;
  /// Of an operator that is the derivative: the number of its step, or 0, and
  /// whether the value is a sum.
  uint64_t operatorNumber = 0;
  bool isSum = false;
  at::Tensor tensor;
  /// Of a derivative that is kept as a tensor: what it depends on besides the
  /// source, or null. They may come to require a gradient.
  ConstantsPtr constants;
  bool isPiecewise = true;
  const char *name = ""; ///< of the operator, as in "mul.Tensor"

  /// Whether the operator's own node saves the value; and whether it saves one
  /// that linear operators follow up to this one.
  bool savesValue() const { return saves == Saves::Result && isLast; }
  bool savesEarlier() const { return saves == Saves::Result && !isLast; }
  /// The name without its overload, for traces.
  std::string label() const {
    std::string text = name;
    return text.substr(0, text.find('.'));
  }
  void drop() {
    own.reset();
    tensor.reset();
  }
};

/// On a fad tensor: the four parameters of the paper. It goes with the tensor,
/// and takes along what no operator has read.
///
/// No lock protects it: operators that read a fad tensor change it and the
/// tensor's node, as operators in place change a tensor's place in the graph. A
/// tensor that several threads read at once has to be read by an operator that
/// ends its sequence before. What threads share without knowing has locks of
/// its own: the elements and the step of a lazy tensor, and whether it is there
/// (LazyPlace::mutex, which is held while it is computed), the list of those
/// that are open (LazyTensors::mutex), what is found of a step (Step::access),
/// and the replay that a reader leaves for a sequence's node (Step::mutex).
/// Python's lock is never waited for while one of them is held.
struct Value final : c10::BackendMeta {
  c10::TensorImpl *tensor;
  /// The start of the tensor's graph, and the tensor's version; a tensor
  /// that has others by now was changed.
  torch::autograd::Node *node;
  uint32_t version;
  Sources sources;
  /// Bytes that the nodes of the operators so far save at least in eager
  /// PyTorch, and the constants that they do not save.
  int64_t saved = 0, paid = 0;
  MemoriesPtr constants;
  /// That of the mode in which the value was computed.
  Policy policy;
  int bits;
  /// Whether the value is computed where it is read, by the deferred engine.
  bool isDeferred;
  /// Of the first operator of a sequence, whose node is PyTorch's own. The
  /// tensor owns its node; a hook of the node may refer to the tensor, so
  /// neither is owned here.
  Held held;
  /// Of the others, the same node, or null.
  SequenceNode *sequence = nullptr;
  /// The operators so far, where they are needed and are not the node's.
  StepPtr step;
  /// Of a cast to a wider type under the policy auto: that of the step, which
  /// may go before.
  std::shared_ptr<Beginning> beginning;
  /// Of a view of a fad tensor: the tensor.
  at::Tensor base;
  /// Of a view: how many sequences go on from it.
  uint32_t continuations = 0;
  /// The node of the last view that was released, which nothing else had. Where
  /// that releases the tensor, it is there still.
  std::optional<WeakNode> lastView;
  /// Whether somebody has an alias through which writes are not seen.
  mutable bool isEscaped = false;
  /// Whether no operator continues the sequence.
  bool isFinished = false;
  /// Of a deferred one, which may be finished before: whether an operator has
  /// ended it.
  bool isRead = false;
  /// Whether readers need not keep the value.
  bool isRecomputed = false;
  /// From where those compute it again that have not saved it.
  std::weak_ptr<Path> recomputed;
  /// Whether the node of an operator saves the value, beside sequences that go
  /// on from it.
  bool isSaved = false;

  /// `mode` is the thread's.
  Value(const at::Tensor &tensor, const Options &mode);
  ~Value() override;
  void release_resources() override;

  /// Copies of the tensor's description, as of `.data` and `detach()`, are no
  /// fad tensors.
  c10::intrusive_ptr<c10::BackendMeta>
  clone(const c10::intrusive_ptr<c10::BackendMeta> &) const override;

  /// Notes that the value is saved. It keeps no source then, and nor do
  /// sequences that can begin there.
  void save();
  /// Whether that makes a difference to sequences that go on from the value, to
  /// its own, or to readers that compute it again.
  bool isWithin() const {
    return (mayBegin() || mayKeep() || !recomputed.expired()) && !isSaved;
  }
  /// Whether it makes one where the whole value is kept with a view.
  bool maySave() const { return policy == Policy::Auto && !isSaved; }
  /// Whether sequences that go on from the value may come to begin there.
  bool mayBegin() const;
  /// Whether the sequence's node would keep the value where something else
  /// saves that.
  bool mayKeep() const;
  /// Notes that somebody has an alias whose writes no version of the tensor
  /// counts, or of the base's. No sequence comes to begin at the value then.
  void escape() const;
  /// Whether the tensor is there. The value outlives it where something refers
  /// to that weakly.
  bool hasTensor() const {
    return tensor && c10::raw::intrusive_ptr::use_count(tensor);
  }
  /// Whether the tensor still has the graph and the version that it had.
  bool isCurrent() const;
  /// The derivative, in which the node of a first operator is missing.
  const Held &description() const;
  /// Whether a cast to a wider type has computed the value, which is the source
  /// of sequences that begin here, and is not kept.
  bool isWidened() const {
    return sources.size() == 1 && sources.front().isWidened() &&
           sources.front().node == node;
  }
  /// Of a current value: PyTorch's node of the operator that is the derivative,
  /// or null.
  NodePtr own() const;
  /// The operators so far, or null.
  StepPtr steps() const;
  /// Whether the operators so far are there for readers, too. The policy fad
  /// has them for a sequence's own node.
  bool isRunAgain() const {
    return steps() && (policy == Policy::Auto || bits || isDeferred);
  }

private:
  /// Lets go of the sequence, as the tensor goes or gets other memory.
  void leaveTensor();
};

/// `dynamic_cast` to a class without subclasses, by one comparison.
template <typename To, typename From> To *castTo(From *from) {
  static_assert(std::is_final_v<To>);
  return from && typeid(*from) == typeid(To) ? static_cast<To *>(from)
                                             : nullptr;
}

/// The fad value of a tensor that is still what the sequence computed, or null.
Value *valueOf(const at::Tensor &tensor);
/// The value of a view from which the sequence of its base can go on, or null.
Value *viewOf(const at::Tensor &tensor);
/// Also of a tensor that has changed.
Value *anyValueOf(const at::Tensor &tensor);

/// While it is alive, nothing writes to the aliases that the thread makes.
struct NoEscapes {
  NoEscapes() { ++count; }
  NoEscapes(const NoEscapes &) = delete;
  NoEscapes &operator=(const NoEscapes &) = delete;
  ~NoEscapes() { --count; }
  static thread_local int count;
};

/// On a view of a fad tensor that is none itself, and keeps that: notes aliases
/// for the tensor's value.
struct ViewOfValue final : c10::BackendMeta {
  c10::weak_intrusive_ptr<Value> value;

  explicit ViewOfValue(c10::weak_intrusive_ptr<Value> value)
      : value(std::move(value)) {}
  c10::intrusive_ptr<c10::BackendMeta>
  clone(const c10::intrusive_ptr<c10::BackendMeta> &) const override;
};
/// A weak reference to the value of a fad tensor or of the one of which a
/// tensor is such a view; or none.
std::optional<c10::weak_intrusive_ptr<Value>>
watchedValueOf(const at::Tensor &tensor);

/// Makes a tensor a fad tensor, or a view of one.
void attach(const at::Tensor &tensor,
            c10::intrusive_ptr<c10::BackendMeta> meta);
/// Operators need not see the tensor any more.
void removeKey(const at::Tensor &tensor);

/// The start of a tensor's graph, or null. The tensor is no view.
torch::autograd::Node *nodeOf(const at::Tensor &tensor);

/// Whether backward sees a tensor as a view of another.
bool isView(const at::Tensor &tensor);

/// Where a gradient of a tensor goes.
torch::autograd::Edge edgeOf(const at::Tensor &tensor);

/// Whether a gradient of the node's results is asked for.
bool hasHooks(torch::autograd::Node &node);

Source sourceOf(const torch::autograd::Edge &edge);

} // namespace fad::eager

#endif // FAD_EAGER_VALUE_H
