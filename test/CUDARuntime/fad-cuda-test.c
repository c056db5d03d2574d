//===- fad-cuda-test.c - Calls the CUDA runtime as told -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each argument is a command, `load=kernels.ptx` for example; the table at the
// end has them all. Prints what each of them returns. threads=8 before them
// runs them in eight threads at a time.

#include "fad-c/CUDARuntime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 8, MAX_ELEMENTS = 64, MAX_THREADS = 64 };

/// What the commands of one thread have made.
typedef struct State {
  FadCudaModule module;
  FadCudaFunction function;
  FadCudaStream stream;
  FadCudaEvent start, stop;
  union {
    void *pointer;
    int i32;
    float f32;
  } values[MAX_PARAMETERS];
  void *parameters[MAX_PARAMETERS];
  int count;
} State;

static void *addParameter(State *state) {
  if (state->count == MAX_PARAMETERS)
    abort();
  void *value = &state->values[state->count];
  state->parameters[state->count++] = value;
  return value;
}

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

static FadCudaStatus runInit(State *state, const char *argument) {
  (void)state, (void)argument;
  return fadCudaInit();
}

static FadCudaStatus runDevices(State *state, const char *argument) {
  (void)state, (void)argument;
  int count, version;
  FadCudaStatus status = fadCudaGetDeviceCount(&count);
  if (!status)
    status = fadCudaGetDriverVersion(&version);
  for (int device = 0; !status && device < count; ++device) {
    char name[32];
    int major, minor, multiprocessors;
    if (!(status = fadCudaGetDeviceName(device, name, sizeof(name))) &&
        !(status = fadCudaGetComputeCapability(device, &major, &minor)) &&
        !(status = fadCudaGetMultiprocessorCount(device, &multiprocessors)))
      printf("%s: sm_%d%d, %d multiprocessors, CUDA %d\n", name, major, minor,
             multiprocessors, version);
  }
  return status;
}

static FadCudaStatus runDevice(State *state, const char *argument) {
  (void)state;
  return fadCudaSetDevice(atoi(argument));
}

/// Makes a context by the driver itself, as a program around the runtime would.
static FadCudaStatus runContext(State *state, const char *argument) {
  (void)state;
  typedef int (*Init)(unsigned);
  typedef int (*Create)(void **, unsigned, int);
  void *driver = dlopen(getenv("FAD_CUDA_DRIVER"), RTLD_NOW);
  Init init = (Init)dlsym(driver, "cuInit");
  Create create = (Create)dlsym(driver, "cuCtxCreate_v2");
  void *context;
  if (init(0) || create(&context, 0, atoi(argument)))
    abort();
  return FAD_CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

static FadCudaStatus runLoad(State *state, const char *argument) {
  FILE *file = fopen(argument, "rb");
  if (!file) {
    perror(argument);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  // Not a byte more than there is.
  char *image = malloc(size + !size);
  if (fread(image, 1, size, file) != size)
    abort();
  fclose(file);
  FadCudaStatus status = fadCudaModuleLoad(image, size, &state->module);
  free(image);
  return status;
}

static FadCudaStatus runUnload(State *state, const char *argument) {
  (void)argument;
  FadCudaModule module = state->module;
  state->module = NULL;
  return fadCudaModuleUnload(module);
}

static FadCudaStatus runFunction(State *state, const char *argument) {
  return fadCudaModuleGetFunction(state->module, argument, &state->function);
}

/// launch=grid,block,shared bytes
static FadCudaStatus runLaunch(State *state, const char *argument) {
  unsigned grid = 1, block = 1, shared = 0;
  sscanf(argument, "%u,%u,%u", &grid, &block, &shared);
  return fadCudaLaunch(state->function, grid, 1, 1, block, 1, 1, shared,
                       state->stream, state->parameters);
}

static FadCudaStatus runI32(State *state, const char *argument) {
  *(int *)addParameter(state) = atoi(argument);
  return FAD_CUDA_SUCCESS;
}

static FadCudaStatus runF32(State *state, const char *argument) {
  *(float *)addParameter(state) = strtof(argument, NULL);
  return FAD_CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A parameter that points to numbers on the device.
static FadCudaStatus runFloats(State *state, const char *argument) {
  float numbers[MAX_ELEMENTS];
  size_t count = 0;
  for (char *end; *argument; argument = *end ? end + 1 : end)
    numbers[count++] = strtof(argument, &end);
  void *pointer = NULL;
  FadCudaStatus status = fadCudaMalloc(count * sizeof(float), &pointer);
  if (!status)
    status = fadCudaCopyToDevice(pointer, numbers, count * sizeof(float),
                                 state->stream);
  *(void **)addParameter(state) = pointer;
  return status;
}

/// print=parameter,count
static FadCudaStatus runPrint(State *state, const char *argument) {
  int parameter = 0, count = 0;
  sscanf(argument, "%d,%d", &parameter, &count);
  float numbers[MAX_ELEMENTS];
  FadCudaStatus status =
      fadCudaCopyToHost(numbers, state->values[parameter].pointer,
                        count * sizeof(float), state->stream);
  if (!status)
    status = fadCudaStreamSynchronize(state->stream);
  for (int i = 0; !status && i < count; ++i)
    printf("%g%c", numbers[i], i + 1 < count ? ' ' : '\n');
  return status;
}

static FadCudaStatus runManaged(State *state, const char *argument) {
  (void)state;
  size_t size = strtoul(argument, NULL, 10);
  void *pointer = &pointer, *copy = NULL;
  FadCudaStatus status = fadCudaMallocManaged(size, &pointer);
  if (!status && size)
    memset(pointer, 7, size);
  if (!status)
    status = fadCudaMalloc(size, &copy);
  if (!status)
    status = fadCudaCopy(copy, pointer, size, NULL);
  if (!status)
    printf("managed memory: %s\n", !pointer ? "none" : "there");
  fadCudaFree(copy);
  return status ? status : fadCudaFree(pointer);
}

static FadCudaStatus runFree(State *state, const char *argument) {
  return fadCudaFree(state->values[atoi(argument)].pointer);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

static FadCudaStatus runStream(State *state, const char *argument) {
  (void)argument;
  return fadCudaStreamCreate(&state->stream);
}

static FadCudaStatus runSynchronize(State *state, const char *argument) {
  (void)argument;
  return fadCudaStreamSynchronize(state->stream);
}

static FadCudaStatus runCapturing(State *state, const char *argument) {
  (void)argument;
  int isCapturing;
  FadCudaStatus status = fadCudaStreamIsCapturing(NULL, NULL);
  printf("no place: %d, %s\n", status, fadCudaGetErrorMessage());
  if (!(status = fadCudaStreamIsCapturing(state->stream, &isCapturing)))
    printf("the stream is %scaptured\n", isCapturing ? "" : "not ");
  return status;
}

static FadCudaStatus runDestroy(State *state, const char *argument) {
  (void)argument;
  return fadCudaStreamDestroy(state->stream);
}

static FadCudaStatus runStart(State *state, const char *argument) {
  (void)argument;
  FadCudaStatus status = fadCudaEventCreate(&state->start);
  return status ? status : fadCudaEventRecord(state->start, state->stream);
}

static FadCudaStatus runStop(State *state, const char *argument) {
  (void)argument;
  FadCudaStatus status = fadCudaEventCreate(&state->stop);
  if (!status)
    status = fadCudaEventRecord(state->stop, state->stream);
  if (!status)
    status = fadCudaStreamWaitEvent(NULL, state->stop);
  return status ? status : fadCudaEventSynchronize(state->stop);
}

static FadCudaStatus runElapsed(State *state, const char *argument) {
  (void)argument;
  float milliseconds;
  FadCudaStatus status =
      fadCudaEventElapsedTime(state->start, state->stop, &milliseconds);
  if (!status)
    printf("%g ms\n", milliseconds);
  fadCudaEventDestroy(state->start);
  fadCudaEventDestroy(state->stop);
  return status;
}

/// Everywhere where a result would be written. Prints what is said.
static FadCudaStatus runNowhere(State *state, const char *argument) {
  (void)argument;
  const FadCudaStatus statuses[] = {
      fadCudaGetDriverVersion(NULL),
      fadCudaGetDeviceCount(NULL),
      fadCudaGetDeviceName(0, NULL, 0),
      fadCudaGetComputeCapability(0, NULL, NULL),
      fadCudaGetMultiprocessorCount(0, NULL),
      fadCudaModuleLoad("", 1, NULL),
      fadCudaModuleGetFunction(state->module, "axpy", NULL),
      fadCudaMalloc(1, NULL),
      fadCudaMallocManaged(1, NULL),
      fadCudaStreamCreate(NULL),
      fadCudaEventCreate(NULL),
      fadCudaEventRecord(NULL, NULL),
      fadCudaEventElapsedTime(state->start, state->stop, NULL),
  };
  for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); ++i)
    printf("%d%c", statuses[i],
           i + 1 < sizeof(statuses) / sizeof(*statuses) ? ' ' : '\n');
  return FAD_CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static const struct {
  const char *name;
  FadCudaStatus (*run)(State *, const char *);
} commands[] = {
    {"context", runContext},     {"destroy", runDestroy},
    {"device", runDevice},       {"devices", runDevices},
    {"elapsed", runElapsed},     {"f32", runF32},
    {"floats", runFloats},       {"free", runFree},
    {"function", runFunction},   {"i32", runI32},
    {"init", runInit},           {"launch", runLaunch},
    {"load", runLoad},           {"managed", runManaged},
    {"nowhere", runNowhere},     {"print", runPrint},
    {"start", runStart},         {"stop", runStop},
    {"stream", runStream},       {"synchronize", runSynchronize},
    {"capturing", runCapturing}, {"unload", runUnload},
};

static void runCommand(State *state, const char *text) {
  size_t length = strcspn(text, "=");
  const char *argument = text + length + (text[length] == '=');
  for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); ++i)
    if (strlen(commands[i].name) == length &&
        !strncmp(commands[i].name, text, length)) {
      FadCudaStatus status = commands[i].run(state, argument);
      if (status)
        printf("%s: status %d: %s\n", commands[i].name, status,
               fadCudaGetErrorMessage());
      else
        printf("%s: success\n", commands[i].name);
      return;
    }
  fprintf(stderr, "there is no command %s\n", text);
  exit(1);
}

static void *runCommands(void *arguments) {
  State state = {0};
  for (char **argument = arguments; *argument; ++argument)
    runCommand(&state, *argument);
  return NULL;
}

int main(int argc, char **argv) {
  int count = 0;
  if (argc < 2 || sscanf(argv[1], "threads=%d", &count) != 1) {
    runCommands(argv + 1);
    return 0;
  }
  pthread_t threads[MAX_THREADS];
  for (int i = 0; i < count; ++i)
    if (pthread_create(&threads[i], NULL, runCommands, argv + 2))
      abort();
  for (int i = 0; i < count; ++i)
    pthread_join(threads[i], NULL);
  return 0;
}
