//===- RuntimeLibraries.cpp - Libraries where they were linked from -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeLibraries.h"

const mlir::fad::RuntimeLibraries mlir::fad::runtimeLibraries = {
    FAD_OPENMP_LIBRARY, FAD_CUDA_RUNTIME_LIBRARY};
