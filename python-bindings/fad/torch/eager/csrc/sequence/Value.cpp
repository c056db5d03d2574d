//===- Value.cpp - The derivative of a fad tensor -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Keys.h"
#include "sequence/Results.h"
#include "sequence/SequenceNode.h"

namespace fad::eager {

namespace impl = torch::autograd::impl;
using torch::autograd::Node;

namespace {
/// Gives access to the keys of one tensor.
struct Keys : c10::TensorImpl {
  static constexpr c10::DispatchKeySet c10::TensorImpl::*member =
      &Keys::key_set_;
};
} // namespace

static torch::autograd::AutogradMeta *metaOf(c10::TensorImpl *tensor) {
  return static_cast<torch::autograd::AutogradMeta *>(tensor->autograd_meta());
}

static Node *nodeOf(c10::TensorImpl *tensor) {
  auto *meta = metaOf(tensor);
  return meta ? meta->grad_fn_.get() : nullptr;
}

Node *nodeOf(const at::Tensor &tensor) {
  return nodeOf(tensor.unsafeGetTensorImpl());
}

Value::Value(const at::Tensor &tensor, const Options &mode)
    : tensor(tensor.unsafeGetTensorImpl()), node(nodeOf(this->tensor)),
      version(static_cast<uint32_t>(
          this->tensor->version_counter().current_version())),
      policy(mode.policy), bits(mode.bits), isDeferred(mode.isDeferred) {}

/// Whether the nodes of a view lead to the node `base`, and `holds` is true of
/// each.
template <typename Predicate>
static bool leadsTo(Node *node, const Node *base, Predicate holds) {
  while (node && node != base) {
    if (node->num_outputs() != 1 || !holds(*node))
      return false;
    node = node->next_edge(0).function.get();
  }
  return node;
}

void Value::leaveTensor() {
  if (base.defined())
    if (Value *value = anyValueOf(base); value && value->sequence) {
      auto isFree = [&](Node &each) {
        return countOwners(&each) == 1 + continuations;
      };
      value->lastView.reset();
      if (Node *view = nodeOf(tensor); leadsTo(view, value->sequence, isFree))
        value->lastView.emplace(share(view));
    }
  // A tensor that something refers to weakly has let go of its node already.
  if (!sequence || nodeOf(tensor) != sequence ||
      (isDeferred ? isRead : sequence->isFinished))
    return;
  // A tensor that takes other memory, by `.data = `, loses its value and keeps
  // its node.
  if (hasTensor()) {
    sequence->isFinished = true;
    return;
  }
  // Without an edge of an operator that is no part of the sequence, nothing
  // needs the derivative any more. Operators that no dispatcher has seen leave
  // an edge, too. The other references are the tensor's and this one.
  Owned<SequenceNode> node = share(sequence);
  const int64_t viewEdges = lastView && lastView->lock() ? 1 : 0;
  if (static_cast<int64_t>(node.use_count()) - 2 - sequence->skips -
          viewEdges <=
      0)
    sequence->drop();
  else
    sequence->isFinished = true;
}

Value::~Value() { release_resources(); }

void Value::release_resources() {
  // With weak references, the destructor runs after that of the tensor.
  if (!tensor)
    return;
  leaveTensor();
  tensor = nullptr;
  step.reset();
  base.reset();
}

thread_local int NoEscapes::count = 0;

c10::intrusive_ptr<c10::BackendMeta>
Value::clone(const c10::intrusive_ptr<c10::BackendMeta> &) const {
  if (!NoEscapes::count)
    escape();
  return nullptr;
}

c10::intrusive_ptr<c10::BackendMeta>
ViewOfValue::clone(const c10::intrusive_ptr<c10::BackendMeta> &) const {
  if (!NoEscapes::count)
    if (auto found = value.lock())
      found->escape();
  return nullptr;
}

void Value::escape() const {
  isEscaped = true;
  // The node of a tensor that has another graph by now may be gone.
  if (sequence && isCurrent())
    sequence->beginning.isEscaped = true;
  if (beginning)
    beginning->isEscaped = true;
  if (base.defined())
    if (Value *value = anyValueOf(base))
      value->escape();
}

void Value::save() {
  isSaved = true;
  isRecomputed = false;
  step.reset();
  at::Tensor own(
      c10::intrusive_ptr<c10::TensorImpl>::unsafe_reclaim_from_nonowning(
          tensor));
  if (mayKeep())
    sequence->takeOwn(
        makeResultNode(sequence->held, sequence->next_edge(0), own));
  // Readers need what the sequence's node does, as long as that has it.
  if (auto path = recomputed.lock();
      path && !isEscaped && !(sequence && sequence->getPath() == path)) {
    StepPtr end = path->get();
    path->replace(end, makeStart(*end, aliasOf(own), nullptr));
  }
  if (sequence)
    sequence->beginning.save(own);
  if (beginning)
    beginning->save(own);
}

bool Value::mayBegin() const {
  return policy == Policy::Auto &&
         (beginning || (sequence && sequence->skips > 0));
}

bool Value::mayKeep() const {
  return policy == Policy::Auto && sequence && sequence->held.savesValue() &&
         sequence->mayTakeOwn();
}

bool Value::isCurrent() const {
  return nodeOf(tensor) == node &&
         static_cast<uint32_t>(tensor->version_counter().current_version()) ==
             version;
}

const Held &Value::description() const {
  return sequence ? sequence->held : held;
}

NodePtr Value::own() const {
  if (sequence)
    return sequence->held.own;
  return held.form == Derivative::Operator ? share(node) : NodePtr();
}

StepPtr Value::steps() const {
  StepPtr own = sequence ? sequence->getSteps() : StepPtr();
  return own ? own : step;
}

Value *anyValueOf(const at::Tensor &tensor) {
  return castTo<Value>(tensor.unsafeGetTensorImpl()->get_backend_meta());
}

std::optional<c10::weak_intrusive_ptr<Value>>
watchedValueOf(const at::Tensor &tensor) {
  c10::BackendMeta *meta = tensor.unsafeGetTensorImpl()->get_backend_meta();
  if (const auto *view = castTo<ViewOfValue>(meta)) {
    auto value = view->value.lock();
    return value && value->isCurrent() ? std::optional(view->value)
                                       : std::nullopt;
  }
  auto *value = castTo<Value>(meta);
  if (value && value->base.defined())
    value = anyValueOf(value->base);
  if (!value)
    return std::nullopt;
  return c10::weak_intrusive_ptr<Value>(
      c10::intrusive_ptr<Value>::unsafe_reclaim_from_nonowning(value));
}

Value *valueOf(const at::Tensor &tensor) {
  Value *value = anyValueOf(tensor);
  if (!value || value->isEscaped || value->base.defined() ||
      value->tensor != tensor.unsafeGetTensorImpl() || !value->isCurrent())
    return nullptr;
  if (value->sequence && value->sequence->isReleased)
    return nullptr;
  // A gradient that somebody waits for makes a value a source.
  return hasHooks(*value->node) ? nullptr : value;
}

Value *viewOf(const at::Tensor &tensor) {
  Value *view = anyValueOf(tensor);
  if (!view || view->isEscaped || !view->base.defined() || !view->step ||
      !view->isCurrent() || hasHooks(*view->node))
    return nullptr;
  Value *value = valueOf(view->base);
  if (!value || value->isFinished ||
      !leadsTo(view->node, value->node, [](Node &) { return true; }))
    return nullptr;
  // The node of the base, which stays, must save no more than the steps do.
  const Held &held = value->description();
  bool savesMore =
      held.form == Derivative::Tensor ||
      (held.form == Derivative::Operator && held.saves == Saves::Result);
  return savesMore ? nullptr : view;
}

bool isView(const at::Tensor &tensor) {
  // Most tensors are no view of any kind, which is quick to see.
  auto *meta = metaOf(tensor.unsafeGetTensorImpl());
  return meta && meta->is_view_ && tensor.is_view();
}

torch::autograd::Edge edgeOf(const at::Tensor &tensor) {
  // A view gets its node anew where its base was written to.
  auto *meta = metaOf(tensor.unsafeGetTensorImpl());
  if (!meta || meta->is_view_)
    return impl::gradient_edge(tensor);
  if (meta->grad_fn_)
    return {meta->grad_fn_, meta->output_nr_};
  return {impl::grad_accumulator(tensor), 0};
}

void attach(const at::Tensor &tensor,
            c10::intrusive_ptr<c10::BackendMeta> meta) {
  auto *impl = tensor.unsafeGetTensorImpl();
  impl->set_backend_meta(std::move(meta));
  impl->*Keys::member = (impl->*Keys::member).add(tensorKey);
}

void removeKey(const at::Tensor &tensor) {
  auto *impl = tensor.unsafeGetTensorImpl();
  impl->*Keys::member = (impl->*Keys::member).remove(tensorKey);
}

bool hasHooks(Node &node) {
  return !node.tensor_pre_hooks().empty() || !node.pre_hooks().empty() ||
         !node.post_hooks().empty() || !node.retains_grad_hooks().empty();
}

Source sourceOf(const torch::autograd::Edge &edge) {
  return {edge.function.get(), edge.input_nr};
}

} // namespace fad::eager
