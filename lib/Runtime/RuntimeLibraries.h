//===- RuntimeLibraries.h - Where what compiled code calls is ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_RUNTIMELIBRARIES_H
#define FAD_LIB_RUNTIME_RUNTIMELIBRARIES_H

namespace mlir::fad {

/// The shared libraries that are loaded for compiled code: absolute paths, or
/// names that the system searches.
struct RuntimeLibraries {
  /// LLVM's, for parallel loops.
  const char *openMP;
  /// fad's, for kernels: a name, which is looked for beside fad first.
  const char *cudaRuntime;
};

/// Those of this build. It has an object file of its own, so that a program can
/// define others.
extern const RuntimeLibraries runtimeLibraries;

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_RUNTIMELIBRARIES_H
