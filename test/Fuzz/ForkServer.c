//===- ForkServer.c - Runs a program many times, loaded once --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Preloaded, it stands before the `main` of a program, which takes longer to
// load than to run on a small input. Each line on the standard input is a run:
// the file for what it prints, the file for its errors, and its arguments,
// separated by tabs. The run is a copy of the process, in which `main` is
// called; for each a line on the standard output has the status that `waitpid`
// gives. FAD_RUN_SECONDS and FAD_RUN_BYTES limit the processor time and the
// address space of a run.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*Main)(int, char **, char **);
typedef int (*StartMain)(Main, int, char **, void (*)(void), void (*)(void),
                         void (*)(void), void *);

enum { MAX_ARGUMENTS = 256 };

static Main programMain;

static void limit(int resource, const char *variable) {
  const char *text = getenv(variable);
  rlim_t value = text ? strtoull(text, NULL, 10) : 0;
  struct rlimit limits = {value, value};
  if (value)
    setrlimit(resource, &limits);
}

static void redirect(const char *path, int descriptor) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, descriptor) < 0)
    _exit(127);
  close(file);
}

/// What the copy does: never returns.
static void run(char *line, char *program, char **environment) {
  char *arguments[MAX_ARGUMENTS + 1] = {program};
  int count = 1;
  char *out = strsep(&line, "\t");
  char *errors = strsep(&line, "\t");
  for (char *next; count < MAX_ARGUMENTS && (next = strsep(&line, "\t"));)
    arguments[count++] = next;
  // The lines to come are not for the copy.
  close(STDIN_FILENO);
  redirect(out, STDOUT_FILENO);
  redirect(errors, STDERR_FILENO);
  limit(RLIMIT_CPU, "FAD_RUN_SECONDS");
  limit(RLIMIT_AS, "FAD_RUN_BYTES");
  // A run that waits for ever takes no processor time.
  const char *seconds = getenv("FAD_RUN_SECONDS");
  alarm(seconds ? 4 * atoi(seconds) : 0);
  exit(programMain(count, arguments, environment));
}

static int serve(int argc, char **argv, char **environment) {
  (void)argc;
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  while ((length = getline(&line, &capacity, stdin)) > 0) {
    line[length - 1] = '\0';
    pid_t child = fork();
    if (child == 0)
      run(line, argv[0], environment);
    int status = -1;
    if (child > 0)
      waitpid(child, &status, 0);
    printf("%d\n", status);
    fflush(stdout);
  }
  return 0;
}

/// What the C library's start-up code calls instead of its own.
int __libc_start_main(Main main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtldFini)(void), void *stack) {
  StartMain start = (StartMain)dlsym(RTLD_NEXT, "__libc_start_main");
  programMain = main;
  return start(serve, argc, argv, init, fini, rtldFini, stack);
}
