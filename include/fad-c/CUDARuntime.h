//===- CUDARuntime.h - Loading and launching CUDA kernels -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libfad_cuda_runtime.so is a small layer over the CUDA driver API. It opens
// the driver when it is first used, so a program that links it starts on a
// machine without one, too, and building it takes no CUDA headers. It depends
// on nothing of LLVM or MLIR.
//
// Every function returns a status. For every other status than
// FAD_CUDA_SUCCESS, fadCudaGetErrorMessage returns a text that quotes the
// driver, and the function has written nothing through its pointers.
//
// Functions may be called from any thread. They work in the context that is
// current in their thread, whoever made it. Without one, they make the primary
// context of device 0 current in that thread and leave it so, as the CUDA
// runtime (and PyTorch with it) does; that context is retained once, for the
// life of the process.
//
// Only fadCudaStreamSynchronize and fadCudaEventSynchronize wait for the
// device, and functions of the driver that wait themselves, such as those that
// free memory.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_C_CUDARUNTIME_H
#define FAD_C_CUDARUNTIME_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAD_CUDA_EXPORTED __attribute__((visibility("default")))

typedef enum FadCudaStatus {
  FAD_CUDA_SUCCESS = 0,
  /// The driver's library cannot be opened, or lacks functions.
  FAD_CUDA_NO_DRIVER = 1,
  /// The driver exists, but does not start.
  FAD_CUDA_INIT_FAILED = 2,
  /// The driver knows no device.
  FAD_CUDA_NO_DEVICE = 3,
  /// An argument that is invalid for every driver: a null pointer, or an image
  /// that is neither PTX nor a whole cubin or fatbin.
  FAD_CUDA_INVALID_ARGUMENT = 4,
  /// The driver does not compile the PTX, or has no compiler for it.
  FAD_CUDA_COMPILE_FAILED = 5,
  /// Any other call of the driver failed.
  FAD_CUDA_DRIVER_ERROR = 6
} FadCudaStatus;

/// A module: kernels in the memory of one context.
typedef struct FadCudaModuleStorage *FadCudaModule;
/// A kernel of a module, which owns it.
typedef struct FadCudaFunctionStorage *FadCudaFunction;
/// The driver's CUstream. Null is the default stream. A stream of another
/// library is allowed, `torch.cuda.current_stream().cuda_stream` for example.
typedef void *FadCudaStream;
/// The driver's CUevent.
typedef void *FadCudaEvent;

/// The message of the last function that failed in this thread. Never null; the
/// next function that fails in this thread overwrites it.
FAD_CUDA_EXPORTED const char *fadCudaGetErrorMessage(void);

//===----------------------------------------------------------------------===//
// Driver and devices
//===----------------------------------------------------------------------===//

/// Whether a driver and a device exist: opens the driver's library and
/// initializes it. All other functions do this by themselves. The answer is
/// computed once for a process.
///
/// The library is libcuda.so.1, or the value of the environment variable
/// FAD_CUDA_DRIVER.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaInit(void);

/// The version of CUDA that the driver supports, 13000 for 13.0.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaGetDriverVersion(int *version);

FAD_CUDA_EXPORTED FadCudaStatus fadCudaGetDeviceCount(int *count);

/// Writes a name of up to `size` bytes, the null byte included.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaGetDeviceName(int device, char *name,
                                                     int size);

/// 9 and 0 for sm_90.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaGetComputeCapability(int device,
                                                            int *major,
                                                            int *minor);

/// The number of streaming multiprocessors.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaGetMultiprocessorCount(int device,
                                                              int *count);

/// Makes the primary context of `device` current in this thread, instead of the
/// current one.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaSetDevice(int device);

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

/// Loads PTX (a null byte at its end is not needed), a cubin or a fatbin of
/// `size` bytes into the current context. The image can be freed afterwards.
///
/// The driver compiles PTX, and caches the result on disk (CUDA_CACHE_PATH).
/// The message of an error includes the compiler's messages about faulty PTX.
/// Other threads may capture a CUDA graph meanwhile.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaModuleLoad(const void *image,
                                                  size_t size,
                                                  FadCudaModule *module);

/// Unloads a module and its functions. Null is allowed. Its kernels must have
/// ended.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaModuleUnload(FadCudaModule module);

/// Finds a kernel by its name.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaModuleGetFunction(
    FadCudaModule module, const char *name, FadCudaFunction *function);

/// Starts a kernel on `stream`, in the context of its module, and returns
/// without waiting for it. `parameters` has a pointer to each parameter's
/// value; values are read before the return. A grid without blocks starts
/// nothing. Each block gets `sharedBytes` of dynamic shared memory.
FAD_CUDA_EXPORTED FadCudaStatus
fadCudaLaunch(FadCudaFunction function, unsigned gridX, unsigned gridY,
              unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
              unsigned sharedBytes, FadCudaStream stream, void **parameters);

/// Returns and clears the first error of compiled code since the last call of
/// this function, in any thread. Compiled code calls MLIR's functions for GPUs
/// (mgpuLaunchKernel and others, which this library has), which return no
/// status. The error is printed, too. Compiled code starts no kernel and copies
/// nothing until the error is cleared.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaTakeError(void);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Allocates memory on the device. An allocation of no bytes is the null
/// pointer.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaMalloc(size_t bytes, void **pointer);

/// Allocates memory that the host and the device both can use.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaMallocManaged(size_t bytes,
                                                     void **pointer);

/// Frees memory of either kind. Null is allowed.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaFree(void *pointer);

/// Copies in the order of the stream. The host's memory must not change until
/// the stream is synchronized.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaCopyToDevice(void *destination,
                                                    const void *source,
                                                    size_t bytes,
                                                    FadCudaStream stream);
FAD_CUDA_EXPORTED FadCudaStatus fadCudaCopyToHost(void *destination,
                                                  const void *source,
                                                  size_t bytes,
                                                  FadCudaStream stream);
/// Between any two places: the driver knows the memory of each pointer.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaCopy(void *destination,
                                            const void *source, size_t bytes,
                                            FadCudaStream stream);

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

/// Creates a stream that does not wait for the default stream.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaStreamCreate(FadCudaStream *stream);
/// Null is allowed.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaStreamDestroy(FadCudaStream stream);
/// Waits for all work on the stream. Returns errors of kernels that ran there.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaStreamSynchronize(FadCudaStream stream);
/// Whether work on the stream becomes a part of a CUDA graph: 1, or else 0, as
/// with a driver that has no graphs.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaStreamIsCapturing(FadCudaStream stream,
                                                         int *isCapturing);
/// Makes later work on the stream wait for the event.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaStreamWaitEvent(FadCudaStream stream,
                                                       FadCudaEvent event);

/// Creates an event that records the time.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaEventCreate(FadCudaEvent *event);
/// Null is allowed.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaEventDestroy(FadCudaEvent event);
/// Puts the event on the stream.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaEventRecord(FadCudaEvent event,
                                                   FadCudaStream stream);
FAD_CUDA_EXPORTED FadCudaStatus fadCudaEventSynchronize(FadCudaEvent event);
/// The time between two events that both have occurred.
FAD_CUDA_EXPORTED FadCudaStatus fadCudaEventElapsedTime(FadCudaEvent start,
                                                        FadCudaEvent stop,
                                                        float *milliseconds);

#ifdef __cplusplus
}
#endif

#endif // FAD_C_CUDARUNTIME_H
