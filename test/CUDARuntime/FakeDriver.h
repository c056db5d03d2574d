//===- FakeDriver.h - A substitute for a CUDA driver in tests ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libfad_fake_cuda.so has the functions of libcuda.so.1 that fad calls. Its
// devices are the host: memory is the host's, and a launch calls a function of
// the kernel's name
//
//   void kernel(void **parameters, const unsigned grid[3],
//               const unsigned block[3]);
//
// in the library that FAD_FAKE_CUDA_KERNELS names, if it is there. These say
// what else it does:
//
//   FAD_FAKE_CUDA_LOG         a file to which each call appends a line
//   FAD_FAKE_CUDA_FAIL        what fails, as in cuInit=999,cuMemAlloc=2@3: the
//                             first one always, the other one at its third call
//   FAD_FAKE_CUDA_VERSION     of the driver, 13000
//   FAD_FAKE_CUDA_CAPABILITY  of the devices, 90
//   FAD_FAKE_CUDA_DEVICES     how many there are, 1
//   FAD_FAKE_CUDA_INFO        what the compiler writes into the info log
//   FAD_FAKE_CUDA_CAPTURED    the number of the stream that a graph captures
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TEST_CUDARUNTIME_FAKEDRIVER_H
#define FAD_TEST_CUDARUNTIME_FAKEDRIVER_H

#include <string>

namespace fake {
using Result = int;

// CUresult.
constexpr Result kInvalidValue = 1;
constexpr Result kNotInitialized = 3;
constexpr Result kNoDevice = 100;
constexpr Result kInvalidDevice = 101;
constexpr Result kInvalidImage = 200;
constexpr Result kInvalidContext = 201;
constexpr Result kInvalidPtx = 218;
constexpr Result kInvalidHandle = 400;
constexpr Result kNotFound = 500;

/// An environment variable's number.
int getNumber(const char *variable, int otherwise);

/// Appends a line to the log.
void record(const std::string &line);

/// Begins a call: records it, and returns what it is to fail with.
Result enter(const std::string &name, const std::string &details = "");
/// The same for a call that needs a context.
Result enterInContext(const std::string &name, const std::string &details = "");

/// The current context is of the device of this number; -1 if there is none.
int getCurrentDevice();
} // namespace fake

#define FAKE_CUDA extern "C" __attribute__((visibility("default"))) fake::Result

#endif // FAD_TEST_CUDARUNTIME_FAKEDRIVER_H
