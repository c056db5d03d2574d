//===- StatisticsOfLLVM.h - Statistics with the layout of LLVM's ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Debug builds include this first where LLVM was built without assertions.
// MLIR's library then constructs statistics of passes without a value, and
// headers would declare them with one, which nothing initializes.
//
//===----------------------------------------------------------------------===//

#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
