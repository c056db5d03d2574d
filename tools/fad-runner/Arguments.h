//===- Arguments.h - Values given on the command line -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_FADRUNNER_ARGUMENTS_H
#define FAD_TOOLS_FADRUNNER_ARGUMENTS_H

#include "fad/Runtime/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fad {

/// The arguments for a call of `function`. `specs` describe the first ones,
/// each in one of these forms:
///
/// - the path of a `.npy` file;
/// - `random:SEED`. Floats are normal with variance 1 or, in a static tensor of
///   rank 2 or more, 1/n, where n is the product of all sizes but the first:
///   such tensors are weights, and products with them keep their magnitude.
///   Integers are 0 or 1;
/// - a number, the value of every element.
///
/// Argument i without a specification is `random:i`. `size` replaces dynamic
/// sizes, other than those of a file. Emits an error if a specification does
/// not suit its argument.
FailureOr<SmallVector<HostTensor>> makeArguments(func::FuncOp function,
                                                 ArrayRef<std::string> specs,
                                                 std::optional<int64_t> size);

/// The cotangents of those among `values`, the results of `function`, that
/// `results` lists. `specs` are as above; cotangents without one are 1.
FailureOr<SmallVector<HostTensor>> makeCotangents(func::FuncOp function,
                                                  ArrayRef<std::string> specs,
                                                  ArrayRef<unsigned> results,
                                                  ArrayRef<HostTensor> values);

} // namespace mlir::fad

#endif // FAD_TOOLS_FADRUNNER_ARGUMENTS_H
