//===- Remarks.h - Optimization remarks of passes ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_REMARKS_H
#define FAD_ANALYSIS_REMARKS_H

#include "mlir/IR/Operation.h"
#include <mutex>

namespace mlir::fad {

/// Lets no other thread emit remarks. MLIR's engine is not safe for the threads
/// that run passes on functions.
std::unique_lock<std::mutex> lockRemarks();

/// Emits the remark `name` of the pass `category`: the numbers of changes to
/// `function`, one for each kind.
void emitPassedRemark(Operation *function, StringRef category, StringRef name,
                      ArrayRef<std::pair<StringRef, unsigned>> numbers);

/// Emits the remark `name` of the pass `category`: the reason why it has left
/// `op` as it is.
void emitMissedRemark(Operation *op, StringRef category, StringRef name,
                      StringRef reason);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_REMARKS_H
