//===- Module.c - The Python module is in the library ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Python looks for PyInit__fad in this file and in the libraries that it needs.
typedef int no_definitions;
