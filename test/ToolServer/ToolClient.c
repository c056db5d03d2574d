//===- ToolClient.c - Stands for a program that is loaded already ---------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Its links have the names of programs in the folder FAD_TOOLS_DIR, or end in
// `python` and stand for the interpreter that the environment variable
// FAD_TEST_PYTHON names. The names of the sockets of their servers
// (ToolServer.c, python_server.py) begin with the value of FAD_TOOL_SERVERS.
// Where no server answers, or libraries are to be preloaded, it becomes the
// program.

#define _GNU_SOURCE
#include "Request.h"
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t count(char **strings, int *number) {
  size_t size = 0;
  for (*number = 0; strings[*number]; ++*number)
    size += strlen(strings[*number]) + 1;
  return size;
}

static char *append(char *text, char **strings) {
  for (; *strings; ++strings)
    text = stpcpy(text, *strings) + 1;
  return text;
}

static int sendAll(int server, const char *data, size_t size) {
  while (size) {
    ssize_t length = send(server, data, size, MSG_NOSIGNAL);
    if (length <= 0)
      return 0;
    data += length;
    size -= length;
  }
  return 1;
}

/// Whether a server has run the program, with the status that `waitpid` gives.
static int ask(const char *socketName, char **argv, int *status) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(socketName);
  if (length + 1 > sizeof(address.sun_path))
    return 0;
  // A name in no folder.
  memcpy(address.sun_path + 1, socketName, length);
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server < 0 ||
      connect(server, (struct sockaddr *)&address,
              offsetof(struct sockaddr_un, sun_path) + 1 + length))
    return 0;
  int descriptors[NUM_DESCRIPTORS] = {0, 1, 2, open(".", O_PATH | O_CLOEXEC)};
  struct Request request = {0};
  request.size = count(argv, &request.numArguments) +
                 count(environ, &request.numVariables);
  umask(request.mask = umask(0));
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit)
    getrlimit(limit, &request.limits[limit]);
  char *text = malloc(request.size);
  append(append(text, argv), environ);

  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(descriptors))];
  } control = {0};
  struct iovec part = {&request, sizeof(request)};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof(control.bytes)};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(descriptors));
  memcpy(CMSG_DATA(header), descriptors, sizeof(descriptors));
  // A stream that is closed cannot be sent.
  if (sendmsg(server, &message, MSG_NOSIGNAL) != (ssize_t)sizeof(request) ||
      !sendAll(server, text, request.size))
    return 0;
  return read(server, status, sizeof(*status)) == (ssize_t)sizeof(*status) &&
         *status != -1;
}

static int endsWith(const char *text, const char *end) {
  size_t length = strlen(text), endLength = strlen(end);
  return length >= endLength && !strcmp(text + length - endLength, end);
}

int main(int argc, char **argv) {
  (void)argc;
  const char *name = basename(strdup(argv[0]));
  const char *servers = getenv("FAD_TOOL_SERVERS");
  const char *python = getenv("FAD_TEST_PYTHON");
  char program[4096], socketName[108];
  if (!endsWith(name, "python")) {
    snprintf(program, sizeof(program), "%s/%s", FAD_TOOLS_DIR, name);
  } else if (python) {
    snprintf(program, sizeof(program), "%s", python);
  } else {
    fprintf(stderr, "%s: FAD_TEST_PYTHON names no interpreter\n", argv[0]);
    return 2;
  }
  snprintf(socketName, sizeof(socketName), "%s-%s", servers ? servers : "",
           name);
  argv[0] = program;
  int status;
  if (!servers || getenv("LD_PRELOAD") || getenv("LD_LIBRARY_PATH") ||
      !ask(socketName, argv, &status)) {
    execv(program, argv);
    perror(program);
    return 127;
  }
  if (WIFSIGNALED(status)) {
    // The run has left a core where one is wanted.
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    // The signal is blocked.
    return 128 + WTERMSIG(status);
  }
  return WEXITSTATUS(status);
}
