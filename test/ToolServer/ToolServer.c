//===- ToolServer.c - Runs a program for clients, loaded once -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Preloaded, it stands before the `main` of a program, whose libraries take
// longer to load than most tests of it take to run: 30 ms of processor time.
// For each client of a socket, a copy of the process calls `main` as the client
// would have been called (Request.h). It ends with its client, and all end when
// nobody holds the other end of a pipe.
//
// FAD_TOOL_SERVER has the numbers of the socket and of the pipe.

#define _GNU_SOURCE
#include "Request.h"
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*Main)(int, char **, char **);
typedef int (*StartMain)(Main, int, char **, void (*)(void), void (*)(void),
                         void (*)(void), void *);

enum { MAX_RUNS = 64, SOCKET = 0, PIPE = 1, FIRST_RUN = 2 };

static Main programMain;

/// A run: its process, what says that it has ended, and its client.
struct Run {
  pid_t process;
  int handle;
  int client;
};

static void readAll(int client, void *data, size_t size) {
  for (char *next = data; size;) {
    ssize_t length = read(client, next, size);
    if (length <= 0)
      _exit(127);
    next += length;
    size -= length;
  }
}

static void receive(int client, struct Request *request, int *descriptors) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(NUM_DESCRIPTORS * sizeof(int))];
  } control;
  struct iovec part = {request, sizeof(*request)};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof(control.bytes)};
  ssize_t length = recvmsg(client, &message, 0);
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (length <= 0 || !header ||
      header->cmsg_len != CMSG_LEN(NUM_DESCRIPTORS * sizeof(int)))
    _exit(127);
  memcpy(descriptors, CMSG_DATA(header), NUM_DESCRIPTORS * sizeof(int));
  readAll(client, (char *)request + length, sizeof(*request) - length);
}

/// Points to `count` strings that follow each other; returns their end.
static char *split(char *text, int count, char **strings) {
  for (int i = 0; i < count; ++i) {
    strings[i] = text;
    text += strlen(text) + 1;
  }
  strings[count] = NULL;
  return text;
}

/// What the copy does: never returns.
static void run(int client) {
  struct Request request;
  int descriptors[NUM_DESCRIPTORS];
  receive(client, &request, descriptors);
  char *text = malloc(request.size);
  readAll(client, text, request.size);
  char **arguments = malloc((request.numArguments + 1) * sizeof(char *));
  char **variables = malloc((request.numVariables + 1) * sizeof(char *));
  split(split(text, request.numArguments, arguments), request.numVariables,
        variables);
  environ = variables;
  if (fchdir(descriptors[NUM_DESCRIPTORS - 1]))
    _exit(127);
  for (int stream = 0; stream < NUM_DESCRIPTORS - 1; ++stream)
    dup2(descriptors[stream], stream);
  // The others are the server's.
  syscall(SYS_close_range, NUM_DESCRIPTORS - 1, ~0u, 0);
  umask(request.mask);
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit)
    setrlimit(limit, &request.limits[limit]);
  signal(SIGPIPE, SIG_DFL);
  exit(programMain(request.numArguments, arguments, variables));
}

static void answer(struct Run *run) {
  int status = -1;
  waitpid(run->process, &status, 0);
  // The client may be gone.
  if (write(run->client, &status, sizeof(status)) < 0)
    errno = 0;
  close(run->client);
  close(run->handle);
}

static int serve(int argc, char **argv, char **environment) {
  (void)argc, (void)argv, (void)environment;
  // For each run, its handle and its client.
  struct pollfd events[FIRST_RUN + 2 * MAX_RUNS] = {0};
  struct Run runs[MAX_RUNS];
  int numRuns = 0;
  if (sscanf(getenv("FAD_TOOL_SERVER"), "%d,%d", &events[SOCKET].fd,
             &events[PIPE].fd) != 2)
    return 2;
  signal(SIGPIPE, SIG_IGN);
  for (;;) {
    events[SOCKET].events = numRuns < MAX_RUNS ? POLLIN : 0;
    for (int i = 0; i < numRuns; ++i) {
      events[FIRST_RUN + 2 * i] = (struct pollfd){runs[i].handle, POLLIN, 0};
      // A client writes nothing after its request, which the run reads.
      events[FIRST_RUN + 2 * i + 1] =
          (struct pollfd){runs[i].client, POLLRDHUP, 0};
    }
    if (poll(events, FIRST_RUN + 2 * numRuns, -1) < 0)
      continue;
    if (events[PIPE].revents) {
      for (int i = 0; i < numRuns; ++i)
        kill(runs[i].process, SIGKILL);
      return 0;
    }
    for (int i = numRuns - 1; i >= 0; --i) {
      if (events[FIRST_RUN + 2 * i].revents) {
        answer(&runs[i]);
        runs[i] = runs[--numRuns];
      } else if (events[FIRST_RUN + 2 * i + 1].revents) {
        kill(runs[i].process, SIGKILL);
      }
    }
    if (!events[SOCKET].revents)
      continue;
    int client = accept(events[SOCKET].fd, NULL, NULL);
    if (client < 0)
      continue;
    // Other users see the name of the socket, too.
    struct ucred user;
    socklen_t size = sizeof(user);
    if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &user, &size) ||
        user.uid != getuid()) {
      close(client);
      continue;
    }
    pid_t process = fork();
    if (process == 0)
      run(client);
    int handle = process < 0 ? -1 : syscall(SYS_pidfd_open, process, 0);
    if (handle < 0) {
      // The client runs the program itself.
      if (process > 0)
        kill(process, SIGKILL);
      close(client);
      continue;
    }
    runs[numRuns++] = (struct Run){process, handle, client};
  }
}

/// What the C library's start-up code calls instead of its own.
int __libc_start_main(Main main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtldFini)(void), void *stack) {
  StartMain start = (StartMain)dlsym(RTLD_NEXT, "__libc_start_main");
  programMain = main;
  return start(serve, argc, argv, init, fini, rtldFini, stack);
}
