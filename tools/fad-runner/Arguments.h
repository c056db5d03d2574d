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

/// The arguments to call `function` with. `specs` say what the first ones are,
/// each in one of these forms:
///
/// - the path of a `.npy` file;
/// - `random:SEED`. Floats are normal with variance 1 or, in a static tensor of
///   rank 2 or more, 1/n, where n is the product of all sizes but the first:
///   such are weights, and products with them stay of that magnitude. Integers
///   are 0 or 1;
/// - a number, which every element takes.
///
/// Argument i is `random:i` where nothing is said of it. `size` stands for
/// dynamic sizes, other than those of a file. Emits an error where a
/// specification does not suit its argument.
FailureOr<SmallVector<HostTensor>> makeArguments(func::FuncOp function,
                                                 ArrayRef<std::string> specs,
                                                 std::optional<int64_t> size);

/// The cotangents of those among `values`, which `function` returned, that
/// `results` lists. `specs` are as above; cotangents are 1 where nothing is
/// said of them.
FailureOr<SmallVector<HostTensor>> makeCotangents(func::FuncOp function,
                                                  ArrayRef<std::string> specs,
                                                  ArrayRef<unsigned> results,
                                                  ArrayRef<HostTensor> values);

} // namespace mlir::fad

#endif // FAD_TOOLS_FADRUNNER_ARGUMENTS_H
