//===- FakeCompiler.h - A substitute for the driver's compiler --*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TEST_CUDARUNTIME_FAKECOMPILER_H
#define FAD_TEST_CUDARUNTIME_FAKECOMPILER_H

#include <cstddef>
#include <string>
#include <vector>

namespace fake {
/// Makes a cubin, an ELF file with the text in its only section, of PTX. If
/// that has no .version, or the word `bogus`, returns false and what ptxas
/// would say.
bool compile(const std::string &ptx, std::string &cubin, std::string &error);

/// Whether this begins like a cubin or a fatbin.
bool isBinary(const char *image);

/// The code of a binary: the PTX that it was made of, or, of one that another
/// compiler made, all bytes.
std::string readBinary(const char *image);

/// Whether code has a kernel of this name, and how many bytes each of its
/// parameters has, where that can be told.
bool findKernel(const std::string &code, const std::string &name,
                std::vector<size_t> &parameterBytes);
} // namespace fake

#endif // FAD_TEST_CUDARUNTIME_FAKECOMPILER_H
