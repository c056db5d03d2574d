//===- Npy.h - Files of numpy arrays ----------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_NPY_H
#define FAD_RUNTIME_NPY_H

#include "fad/Runtime/HostTensor.h"

namespace mlir::fad {

/// Reads a `.npy` file as a value of type `type`. The file's shape is that of
/// `type`, if `type` has one, and its elements have the type that writeNpy
/// gives them. Signed and unsigned integers are interchangeable, since MLIR's
/// have no sign; bf16, which numpy lacks, is rounded from any float. Elements
/// in Fortran order are transposed. No package of Debian has a library for
/// such files.
llvm::Expected<HostTensor> readNpy(StringRef path, RankedTensorType type);

/// Writes `tensor` as a `.npy` file. bf16 is extended to f32.
void writeNpy(raw_ostream &os, const HostTensor &tensor);

} // namespace mlir::fad

#endif // FAD_RUNTIME_NPY_H
