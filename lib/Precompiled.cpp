//===- Precompiled.cpp - Carries the precompiled header -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Deliberately empty: the target of this file owns the precompiled header that
// the other targets reuse.
