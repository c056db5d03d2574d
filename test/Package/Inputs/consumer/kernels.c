//===- kernels.c - A consumer of the CUDA runtime -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <fad-c/CUDARuntime.h>

#include <stdio.h>

int main(void) {
  int count = 0;
  if (fadCudaGetDeviceCount(&count))
    puts(fadCudaGetErrorMessage());
  else
    printf("devices: %d\n", count);
  return 0;
}
