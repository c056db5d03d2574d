//===- Library.cpp - The entries for PyTorch and Python -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Fused.h"
#include "deferred/LazyTensor.h"
#include "interception/InPlace.h"
#include "interception/Kernel.h"
#include "interception/Observer.h"
#include "interception/Writes.h"
#include "sequence/FewBits.h"
#include "sequence/Fork.h"
#include "sequence/Holdings.h"
#include "sequence/SequenceNode.h"
#include "sequence/Weak.h"
#include <algorithm>
#include <torch/library.h>
#include <utility>
#include <vector>

namespace fad::eager {
namespace {
struct Kernel final : c10::OperatorKernel {
  explicit Kernel(const Operator &info) : info(info) {}
  void operator()(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack *stack) {
    runKernel(info, op, keys, stack);
  }
  const Operator &info;
};

struct InPlaceKernel final : c10::OperatorKernel {
  explicit InPlaceKernel(const c10::OperatorHandle &pure)
      : info(*findOperator(pure)), pure(pure) {}
  void operator()(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack *stack) {
    runInPlace(info, pure, op, keys, stack);
  }
  const Operator &info;
  const c10::OperatorHandle pure;
};

/// A kernel for an operator of the given arguments.
template <typename... Args>
torch::CppFunction makeTyped(const Operator &info,
                             const c10::OperatorHandle &op) {
  auto typed = op.typed<at::Tensor(Args...)>();
  return torch::CppFunction(
      [&info, typed](c10::DispatchKeySet keys, Args... args) {
        return runTyped<Args...>(info, typed, keys, args...);
      });
}

/// The kernel of an operator: a typed one, if its arguments are those of many.
torch::CppFunction makeKernel(const Operator &info) {
  std::string kinds;
  c10::OperatorHandle op = findHandle(info.name);
  for (const c10::Argument &argument : op.schema().arguments())
    kinds += argument.type()->kind() == c10::TypeKind::TensorType   ? 'T'
             : argument.type()->kind() == c10::TypeKind::NumberType ? 'n'
                                                                    : '?';
  using Tensor = const at::Tensor &;
  using Number = const at::Scalar &;
  if (info.form == Form::Cast)
    return makeTyped<Tensor, std::optional<c10::ScalarType>,
                     std::optional<c10::Layout>, std::optional<c10::Device>,
                     std::optional<bool>, bool,
                     std::optional<c10::MemoryFormat>>(info, op);
  if (kinds == "T")
    return makeTyped<Tensor>(info, op);
  if (kinds == "TT")
    return makeTyped<Tensor, Tensor>(info, op);
  if (kinds == "Tn")
    return makeTyped<Tensor, Number>(info, op);
  if (kinds == "TTn")
    return makeTyped<Tensor, Tensor, Number>(info, op);
  if (kinds == "Tnn")
    return makeTyped<Tensor, Number, Number>(info, op);
  return torch::CppFunction::makeFromBoxedFunctor(
      std::make_unique<Kernel>(info));
}
} // namespace
} // namespace fad::eager

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
  fad::eager::watchSilentWrites();
  fad::eager::watchWrites();
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericWrapper, m) {
  m.fallback(
      torch::CppFunction::makeFromBoxedFunction<&fad::eager::readBoxed>());
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, m) {
  for (const fad::eager::Operator &op : fad::eager::operators())
    m.impl(op.name, fad::eager::makeKernel(op));
  for (const auto &[name, saves] : fad::eager::inPlaceOperators())
    m.impl((std::string(name) + "_").c_str(),
           saves == fad::eager::Saves::Result
               ? torch::CppFunction::makeFromBoxedFunction<
                     &fad::eager::leaveInPlace>()
               : torch::CppFunction::makeFromBoxedFunctor(
                     std::make_unique<fad::eager::InPlaceKernel>(
                         fad::eager::findHandle(name))));
}

// Operators, and no functions of ctypes, as exceptions of Python go through
// those of PyTorch. Python has the kernel of the first (eager/_levels.py),
// which places the levels of the derivative that the second evaluates. There
// are none where the derivative is not bounded or has no limits.
TORCH_LIBRARY_FRAGMENT(fad, m) {
  m.def("_place_levels(int bits) -> float[]");
  m.def("_derivatives(Tensor arguments) -> Tensor?",
        torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                        &fad::eager::evaluateDerivative));
  // For fad.torch.saved_memory: the names and tensors that a node holds, by
  // its address; and what the thread's peek has found, which is turned on or
  // off.
  m.def("_held(int node) -> (str[], Tensor[])", [](int64_t node) {
    auto [names, tensors] = fad::eager::holdingsOf(
        *reinterpret_cast<torch::autograd::Node *>(node));
    return std::make_tuple(std::move(names), std::move(tensors));
  });
  m.def("_peek(bool isOn) -> Tensor[]", [](bool isOn) {
    return std::exchange(fad::eager::peek, {isOn, {}}).found.tensors;
  });
}

// Functions that Python calls, through ctypes.
#define FAD_EAGER_API extern "C" __attribute__((visibility("default")))

/// The modes of threads, by their numbers. Python has a thread's state as such
/// a number and two bits, as ctypes takes more time for a structure than a call
/// takes.
class Modes {
public:
  /// The number of a mode, a new one where there was none.
  int find(const fad::eager::Options &options) {
    auto isSame = [&](const fad::eager::Options &other) {
      return options.policy == other.policy &&
             options.minNumel == other.minNumel && options.bits == other.bits &&
             options.isDeferred == other.isDeferred;
    };
    std::lock_guard<std::mutex> lock(mutex);
    auto found = std::find_if(all.begin(), all.end(), isSame);
    if (found == all.end())
      found = all.insert(all.end(), options);
    return static_cast<int>(found - all.begin());
  }
  fad::eager::Options get(int number) {
    std::lock_guard<std::mutex> lock(mutex);
    return all[number];
  }
  static Modes &ofProcess() { return fad::eager::OfProcess<Modes>::get(); }

private:
  fad::eager::ProcessMutex mutex{fad::eager::Rank::Others};
  /// The first is that of threads that have been in no other.
  std::vector<fad::eager::Options> all = {{}};
};
static thread_local int numberOfMode = 0;

/// The lowest bits of a state, as in eager/_state.py: whether the mode is on,
/// and whether it defers sequences.
static int makeState(int number, bool isOn, bool isDeferred) {
  return number << 2 | isDeferred << 1 | static_cast<int>(isOn);
}

FAD_EAGER_API int fad_eager_get() {
  using namespace fad::eager;
  return makeState(numberOfMode,
                   c10::impl::tls_is_dispatch_key_included(modeKey),
                   options.isDeferred);
}

/// The state in which a mode is on.
FAD_EAGER_API int fad_eager_find(int64_t policy, int64_t minNumel, int64_t bits,
                                 int64_t isDeferred) {
  fad::eager::Options mode;
  mode.policy = static_cast<fad::eager::Policy>(policy);
  mode.minNumel = minNumel;
  mode.bits = static_cast<int>(bits);
  mode.isDeferred = isDeferred != 0;
  return makeState(Modes::ofProcess().find(mode), /*isOn=*/true,
                   mode.isDeferred);
}

/// Replaces the thread's state but for what is traced and observed, and returns
/// the one before.
FAD_EAGER_API int fad_eager_exchange(int state) {
  using namespace fad::eager;
  int before = fad_eager_get();
  c10::impl::tls_set_dispatch_key_included(modeKey, state & 1);
  if (int number = state >> 2; number != numberOfMode) {
    Options mode = Modes::ofProcess().get(number);
    mode.isTraced = options.isTraced;
    mode.isObserved = options.isObserved;
    options = mode;
    numberOfMode = number;
  }
  return before;
}

/// Replaces whether the thread's operators are traced.
FAD_EAGER_API int fad_eager_exchange_traced(int isTraced) {
  return std::exchange(fad::eager::options.isTraced, isTraced != 0);
}

/// Tells the thread's sequences to a function, or to none.
FAD_EAGER_API void fad_eager_observe(fad::eager::Listener listener) {
  fad::eager::setListener(listener);
}

/// The lines of the thread's trace since the last call.
FAD_EAGER_API const char *fad_eager_take_trace() {
  static thread_local std::string text;
  text.clear();
  for (const std::string &line : fad::eager::trace.take())
    text += line + "\n";
  return text.c_str();
}

/// Sets the function of Python that `lock` calls.
FAD_EAGER_API void fad_eager_set_locker(fad::eager::Locker locker) {
  fad::eager::locker = locker;
}

FAD_EAGER_API int fad_eager_try_lock(fad::eager::Lookup *lookup) {
  return fad::eager::tryLock(*lookup);
}

FAD_EAGER_API void fad_eager_note_collection(int isBeginning) {
  fad::eager::noteCollection(isBeginning != 0);
}

/// How many nodes of sequences the process has.
FAD_EAGER_API int64_t fad_eager_live_nodes() {
  return fad::eager::SequenceNode::live;
}

/// How many lazy tensors the process has that are not computed, or whether a
/// TensorImpl is one.
FAD_EAGER_API int64_t fad_eager_live_values(c10::TensorImpl *tensor) {
  using namespace fad::eager;
  if (!tensor)
    return LazyTensor::live;
  auto *lazy = dynamic_cast<LazyTensor *>(tensor);
  return lazy && !lazy->isComputed();
}

/// The message of the error that a call ends with, or null.
template <typename Call> static const char *findError(Call call) {
  static thread_local std::string message;
  try {
    call();
    return nullptr;
  } catch (const c10::Error &error) {
    message = error.what_without_backtrace();
  } catch (const std::exception &error) {
    message = error.what();
  }
  return message.c_str();
}

/// Computes the tensors that the thread's deferred sequences have left open.
/// Returns the message of an error, or null.
FAD_EAGER_API const char *fad_eager_compute_open() {
  return findError([] { fad::eager::LazyTensors::ofThread()->computeAll(); });
}

/// Computes the tensors of all threads that read the memory of a TensorImpl.
/// Returns the message of an error, or null.
FAD_EAGER_API const char *fad_eager_compute_readers(c10::TensorImpl *tensor) {
  return findError([&] {
    if (fad::eager::LazyTensor::live)
      fad::eager::LazyTensors::computeReadersOf(
          at::Tensor(c10::intrusive_ptr<
                     c10::TensorImpl>::unsafe_reclaim_from_nonowning(tensor)),
          /*isWritten=*/false);
  });
}

//===----------------------------------------------------------------------===//
// Kernels of deferred sequences
//===----------------------------------------------------------------------===//

/// A function that launches kernels of a GPU. `type` names the devices.
FAD_EAGER_API void fad_eager_set_driver(const char *type, uintptr_t launch,
                                        uintptr_t isCapturing,
                                        uintptr_t getErrorMessage) {
  using namespace fad::eager;
  auto set = [](auto &function, uintptr_t address) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  set(driver.launch, launch);
  set(driver.isCapturing, isCapturing);
  set(driver.getErrorMessage, getErrorMessage);
  driver.type = c10::Device(type).type();
}

/// Waits for a sequence whose kernels are asked for, without Python's lock.
/// Empty once nobody asks for any more.
FAD_EAGER_API const char *fad_eager_take_request() {
  static thread_local std::string key;
  key = fad::eager::CompiledSequences::get().takeRequest();
  return key.c_str();
}

FAD_EAGER_API void fad_eager_stop() {
  fad::eager::CompiledSequences::get().stop();
}

FAD_EAGER_API void fad_eager_expect(const char *key) {
  fad::eager::CompiledSequences::get().expect(key);
}

FAD_EAGER_API void fad_eager_finish(const char *key, const uintptr_t code[3],
                                    const int64_t *arguments, int64_t count) {
  using namespace fad::eager;
  CompiledSequences::get().finish(key, code[0], code[1], code[2],
                                  {arguments, arguments + count});
}

/// How many sequences have kernels; -1 while some are being compiled.
FAD_EAGER_API int64_t fad_eager_count_compiled() {
  auto &all = fad::eager::CompiledSequences::get();
  return all.isIdle() ? all.countReady() : -1;
}
