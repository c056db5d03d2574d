//===- Request.h - Requests for tools that are loaded already -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A client sends a `Request` with the descriptors of its standard streams and
// its working directory, then `size` bytes: the arguments and the environment,
// each of them with a zero at its end. The answer is an `int`, the status that
// `waitpid` gives.

#ifndef FAD_TEST_TOOLSERVER_REQUEST_H
#define FAD_TEST_TOOLSERVER_REQUEST_H

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { NUM_DESCRIPTORS = 4 };

struct Request {
  size_t size;
  int numArguments;
  int numVariables;
  mode_t mask;
  struct rlimit limits[RLIM_NLIMITS];
};

#endif // FAD_TEST_TOOLSERVER_REQUEST_H
