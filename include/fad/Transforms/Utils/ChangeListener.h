//===- ChangeListener.h - Whether a rewriter changed anything ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_UTILS_CHANGELISTENER_H
#define FAD_TRANSFORMS_UTILS_CHANGELISTENER_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {

/// Records whether a rewriter changed anything. A pass that changed nothing
/// preserves all analyses, and nothing is verified after it.
class ChangeListener : public RewriterBase::Listener {
public:
  bool hasChanged() const { return changed; }

  void notifyOperationInserted(Operation *, OpBuilder::InsertPoint) override {
    changed = true;
  }
  void notifyOperationModified(Operation *) override { changed = true; }
  void notifyOperationErased(Operation *) override { changed = true; }

private:
  bool changed = false;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_UTILS_CHANGELISTENER_H
