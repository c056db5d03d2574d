//===- Release.h - Nodes of autograd in releases of PyTorch -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that differs between the releases of PyTorch that the extension is for. A
// release without the tests of `utils/test-release.sh` takes its branches with
// it.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_RELEASE_H
#define FAD_EAGER_RELEASE_H

#include <torch/version.h>

// Goes with PyTorch 2.12: before 2.13, `std::shared_ptr` owns nodes, and their
// class is in the header of the functions on them.
#define FAD_EAGER_SHARES_NODES                                                 \
  (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13)

#if FAD_EAGER_SHARES_NODES
#include <memory>
#include <torch/csrc/autograd/function.h>
#else
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/node.h>
#endif

namespace fad::eager {

#if FAD_EAGER_SHARES_NODES

/// An owner of a node.
template <typename T> using Owned = std::shared_ptr<T>;
using WeakNode = std::weak_ptr<torch::autograd::Node>;

template <typename T, typename... Arguments>
Owned<T> makeNode(Arguments &&...arguments) {
  // As PyTorch frees its own: a chain of nodes takes no stack.
  return Owned<T>(new T(std::forward<Arguments>(arguments)...),
                  torch::autograd::deleteNode);
}

/// One more owner of a node that has one.
template <typename T> Owned<T> share(T *node) {
  return node ? std::static_pointer_cast<T>(node->getptr()) : nullptr;
}

/// The same of a node that may have none any more: null then.
template <typename T> Owned<T> shareAlive(T *node) {
  return std::static_pointer_cast<T>(node->weak_from_this().lock());
}

inline int64_t countOwners(torch::autograd::Node *node) {
  return node->weak_from_this().use_count();
}

#else

template <typename T> using Owned = c10::intrusive_ptr<T>;
using WeakNode = c10::weak_intrusive_ptr<torch::autograd::Node>;

template <typename T, typename... Arguments>
Owned<T> makeNode(Arguments &&...arguments) {
  return c10::make_intrusive<T>(std::forward<Arguments>(arguments)...);
}

template <typename T> Owned<T> share(T *node) {
  return Owned<T>::unsafe_reclaim_from_nonowning(node);
}

template <typename T> Owned<T> shareAlive(T *node) {
  return Owned<T>::reclaim(c10::raw::weak_intrusive_ptr::lock(node));
}

inline int64_t countOwners(torch::autograd::Node *node) {
  return static_cast<int64_t>(c10::raw::intrusive_ptr::use_count(node));
}

#endif

using NodePtr = Owned<torch::autograd::Node>;

/// A node that learns of its end while its edges are still there.
struct MortalNode : torch::autograd::Node {
  /// May be called more than once, and is by the destructor of a subclass.
  virtual void finish() = 0;
  /// Lets backward free what it has needed.
  virtual void release() = 0;

  void release_variables() final {
    // PyTorch calls this before it takes the edges of a node without owners, or
    // whose last one it is. That one may be a backward that has called the node
    // for the last time, too.
    countOwners(this) > 1 ? release() : finish();
  }
};

} // namespace fad::eager

#endif // FAD_EAGER_RELEASE_H
