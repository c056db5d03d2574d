//===- LazyTensor.h - Tensors that are computed where they are read - -*- C++
//-*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_LAZYTENSOR_H
#define FAD_EAGER_LAZYTENSOR_H

#include "deferred/Streams.h"
#include "sequence/Path.h"
#include "sequence/Value.h"
#include <c10/core/TensorImpl.h>
#include <list>

namespace fad::eager {

class LazyTensor;
class LazyTensors;

/// Where a lazy tensor is, for those that do not own it: the thread's list of
/// open tensors, and steps that have been computed. A reference would be
/// another owner. Python's garbage collection, which may leave Python's lock to
/// other threads, aborts where a tensor that it frees has got one meanwhile.
struct LazyPlace {
  explicit LazyPlace(LazyTensor *tensor) : tensor(tensor) {}

  /// Calls a function with the tensor, if it is there, while no other thread
  /// computes or frees it. The number of its owners may be none already, so the
  /// function makes no reference to it, not even a weak one.
  template <typename Function> void visit(Function function) {
    std::lock_guard<std::mutex> lock(mutex);
    if (tensor)
      function(*tensor);
  }

  std::mutex mutex;
  LazyTensor *tensor;
};

/// A tensor whose owners do not become more.
class Borrowed {
public:
  explicit Borrowed(c10::TensorImpl *tensor)
      : tensor(c10::intrusive_ptr<c10::TensorImpl>::reclaim(tensor)) {}
  ~Borrowed() { tensor.unsafeReleaseIntrusivePtr().release(); }
  Borrowed(const Borrowed &) = delete;
  const at::Tensor &operator*() const { return tensor; }

private:
  at::Tensor tensor;
};

/// How a value was computed.
enum class Computed : uint8_t {
  AtOnce,
  /// Operator by operator: the kernel may come, or does not.
  BeforeKernel,
  WithoutKernel,
  /// Operator by operator, one of which has left its node.
  ByNodes,
  ByKernel
};
std::string_view name(Computed computed);

/// A tensor with sizes, strides and a place in the graph of backward, which
/// gets its storage when somebody asks for that. In Python, it is a
/// torch.Tensor.
class LazyTensor final : public c10::TensorImpl {
public:
  /// The value of `step`, of the sizes and device of `like`.
  LazyTensor(StepPtr step, const at::Tensor &like, c10::ScalarType type);
  /// Keeps what an operand of the step has computed already: the source may be
  /// written to. Whether it has.
  bool readsFrom(const at::Tensor &operand);
  ~LazyTensor() override;

  bool isComputed() const { return computed.load(std::memory_order_acquire); }
  /// Computes the tensor, unless that is done. What the current stream is given
  /// next comes after that.
  void compute();
  /// Does so by a function of its step. False where it was done before.
  template <typename Function> bool computeAs(Function function) {
    Dropped dropped;
    std::lock_guard<std::mutex> lock(place->mutex);
    if (isComputed())
      return false;
    OnRecordedStream there(stream);
    auto [value, how] = function(step);
    fill(value, how);
    dropped = forget();
    return true;
  }
  /// The tensor of a step, if it is there, is the thread's own, and is what the
  /// step computes: its node's edge. With `value`, it is computed, and an alias
  /// is put there.
  static torch::autograd::Edge find(const StepPtr &step,
                                    at::Tensor *value = nullptr);
  /// No write to what the sequence reads is waited for any more.
  void leave();
  /// Whether the sequence is one of this thread's.
  bool isOwn() const;
  /// Takes the elements of a tensor. Within `evaluate`.
  void fill(const at::Tensor &value, Computed how);
  /// Of a computed one.
  Computed how() const { return computedHow; }
  /// The operators that lead to the value, or null once it is computed. Within
  /// `evaluate`, or a visit.
  const StepPtr &getStep() const { return step; }
  /// The state when the last operator was recorded.
  const std::optional<c10::Stream> &getStream() const { return stream; }

  const c10::Storage &storage() const override;
  bool has_storage() const override;
  c10::intrusive_ptr<TensorImpl>
  shallow_copy_and_detach(const c10::VariableVersion &version,
                          bool allow) const override;
  c10::intrusive_ptr<TensorImpl>
  shallow_copy_and_detach(c10::VariableVersion &&version,
                          bool allow) const override;
  void release_resources() override;

  /// Within a visit, for other threads than the one whose sequence it is: the
  /// operators that backward may run again, until an operator has ended that.
  StepPtr open;

  /// The same of a linear sequence, which backward does not run. It may go on
  /// from the value, until a write to what it reads, which may change no
  /// version.
  StepPtr linear;
  bool isOvertaken() const { return overtaken; }

  /// How many are not computed, in the process.
  static std::atomic<int64_t> live;

private:
  friend class LazyTensors;
  /// Objects that may go once the tensor is computed. The last reference to a
  /// tensor may wait for Python's lock, whose owner may wait for the tensor's:
  /// it goes outside of that.
  struct Dropped {
    StepPtr step, open, linear;
    std::vector<at::Tensor> operands;
  };
  Dropped forget();
  /// The originals that the computation of the tensor at a place needs, or none
  /// where a function of the tensor is false. Before the visit that
  /// computes, as it may wait for Python's lock; it ends after that visit.
  template <typename Function>
  static Originals findOriginals(LazyPlace &place, Function isNeeded);
  /// Nobody visits the tensor any more.
  void disappear();
  void computeOnce();
  /// The same within a visit.
  Dropped computeVisited(const Originals &originals);
  /// The same for another thread, which is going to write.
  Dropped computeElsewhere();
  LazyTensor &get() const { return const_cast<LazyTensor &>(*this); }

  StepPtr step;
  const std::optional<c10::Stream> stream;
  /// Of a computed one, where there are streams.
  std::shared_ptr<LateWork> work;
  std::vector<at::Tensor> operands;
  std::atomic<bool> computed{false}, overtaken{false};
  Computed computedHow = Computed::AtOnce;
  const std::shared_ptr<LazyPlace> place;
  /// Those of the thread, where this one is until an operator has ended its
  /// sequence.
  std::shared_ptr<LazyTensors> list;
  std::list<std::shared_ptr<LazyPlace>>::iterator listed;
};

/// The tensors of a thread that are not computed yet, or whose sequences no
/// operator has ended.
class LazyTensors {
public:
  /// How many there are, in the process.
  static std::atomic<int64_t> count;

  static std::shared_ptr<LazyTensors> ofThread();
  static std::vector<std::shared_ptr<LazyTensors>> ofThreads();
  void add(LazyTensor &tensor, const std::shared_ptr<LazyTensors> &self);
  void remove(LazyTensor &tensor);
  /// The last steps of all threads' sequences that no operator has ended, and
  /// that backward may run again.
  static std::vector<StepPtr> findOpen();
  /// Before a tensor is handed out, or `isWritten`: computes those of all
  /// threads whose sequence reads the memory, and has those that are computed
  /// read copies of leaves. Linear ones do not go on from what is written.
  static void computeReadersOf(const at::Tensor &tensor, bool isWritten);
  void computeAll();

private:
  friend struct Threads;
  std::vector<std::shared_ptr<LazyPlace>> getAll();

  std::mutex mutex;
  std::list<std::shared_ptr<LazyPlace>> places;
};

/// The lazy tensor that a tensor is, whether computed or not, or null.
LazyTensor *lazyOf(const at::Tensor &tensor);
/// Computes a tensor if it is a lazy one.
void compute(const at::Tensor &tensor);

} // namespace fad::eager

#endif // FAD_EAGER_LAZYTENSOR_H
