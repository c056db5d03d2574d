//===- Writes.h - Writes to what deferred sequences read -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_WRITES_H
#define FAD_EAGER_WRITES_H

namespace fad::eager {

/// Lets operators in the mode that write to a tensor, or hand out its memory,
/// wait for the sequences that read that memory and are not computed yet.
void watchWrites();

/// The same for operators that were registered since.
void watchNewOperators();

/// Notes the silent writes of operators in the mode, and lets them wait as
/// well.
void watchSilentWrites();

} // namespace fad::eager

#endif // FAD_EAGER_WRITES_H
