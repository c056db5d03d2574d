//===- BufferStderr.c - Collects the dumps of a program -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Preloaded into a program of LLVM's, it collects the standard error, where
// each word of a dump is a call of the system otherwise: these calls take four
// times what the program does. The program has one thread and ends without a
// signal.

#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char buffer[1 << 16];
static size_t used;

static void flush(void) {
  for (size_t done = 0; done < used;) {
    long written =
        syscall(SYS_write, STDERR_FILENO, buffer + done, used - done);
    if (written < 0)
      _exit(1);
    done += written;
  }
  used = 0;
}

__attribute__((destructor)) static void flushAtEnd(void) { flush(); }

ssize_t write(int file, const void *data, size_t size) {
  if (file != STDERR_FILENO)
    return syscall(SYS_write, file, data, size);
  if (size > sizeof(buffer) - used)
    flush();
  if (size > sizeof(buffer))
    return syscall(SYS_write, file, data, size);
  memcpy(buffer + used, data, size);
  used += size;
  return size;
}
