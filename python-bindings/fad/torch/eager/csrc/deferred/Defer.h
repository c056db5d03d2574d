//===- Defer.h - Sequences that are computed as a whole ------ -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_DEFER_H
#define FAD_EAGER_DEFER_H

#include "deferred/LazyTensor.h"
#include "sequence/OperatorCall.h"

namespace fad::eager {

/// The node of a lazy tensor, if that is still the sequence's and needs its
/// sources for a derivative; or null.
SequenceNode *openNodeOf(LazyTensor &tensor);

/// Records an operator, and returns a tensor that is not computed yet.
/// Undefined where only PyTorch's own operator tells what its result is like,
/// and where a CUDA graph is captured, which may end before the value is read.
at::Tensor defer(Call &call);

/// Whether operators on a deferred value continue its sequence: they do not
/// once what the value was computed from has been written to, nor on another
/// stream.
bool isContinued(const at::Tensor &tensor, const Value &value);

/// Whether the last operator of a deferred sequence saves its result, and is
/// the only one that is not linear: whoever reads the value, the policy auto
/// keeps that. A piecewise linear one's is kept where a function of Python's
/// may have saved it.
bool keepsResult(const Value &value, bool isInFunction = false);

/// Within a visit: the operators of a tensor, if `evaluate` is going to keep
/// the node of one of them, which needs their originals; or null.
StepPtr findRunOwn(LazyTensor &tensor);

/// Computes what a lazy tensor stands for and, under Policy::Fad, its
/// derivative; under Policy::Auto with the node of an operator that saves the
/// result, as a reader that no dispatcher sees may save that. `originals` are
/// those of `findRunOwn`.
void evaluate(LazyTensor &tensor, const Originals &originals);

/// Computes the value alone, for a thread that is going to write to memory that
/// another one's sequence reads, and leaves the node to that one, of which
/// backward reads copies.
void evaluateElsewhere(LazyTensor &tensor);

/// Has a sequence that is computed, and that no operator has ended, read copies
/// of leaves that are going to be written to: under Policy::Fad, eager
/// PyTorch's derivative would be there. For the thread whose sequence it is, or
/// for another one. Returns memory, the end of which may wait for Python's
/// lock. Within a visit, when no thread evaluates what reads that memory.
std::vector<c10::Storage> copyLeaves(LazyTensor &tensor, bool isOwn,
                                     const at::Tensor &written);

/// Ends a sequence under Policy::Fad whose value `evaluateElsewhere` has
/// computed, before another one goes on from that: what both read is not copied
/// any more once the tensor is gone. Returns the operators, or null where
/// nothing was to do. Within a visit, during `evaluate` of the other sequence,
/// when no thread writes to what that reads.
StepPtr endComputed(LazyTensor &tensor);

/// Decides what is kept of a deferred sequence, at the end of which an operator
/// reads the value, and computes the value. The end may wait for a reader that
/// is not known to save the value.
std::optional<Waiting> finishDeferred(const at::Tensor &tensor, Value &value,
                                      bool readerSaves);
/// Ends a sequence that has waited for its reader.
void endDeferred(const at::Tensor &tensor, Value &value, const Waiting &waiting,
                 bool isSaved);

/// Calls a function for each source and constant of a sequence.
void visitInputs(const StepPtr &end,
                 const std::function<void(const Step::Constant &)> &function);

/// Whether a sequence, or its rest after values that are computed already,
/// reads memory of a tensor. A write through `.data` changes no version of a
/// value.
bool readsMemoryOf(const StepPtr &end, const at::Tensor &tensor);

} // namespace fad::eager

#endif // FAD_EAGER_DEFER_H
