//===- PullbackOpInterface.cpp - Reverse rules of tensor operations -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/PullbackOpInterface.h"

using namespace mlir;
using namespace mlir::fad;

#include "fad/Interfaces/PullbackOpInterface.cpp.inc"
