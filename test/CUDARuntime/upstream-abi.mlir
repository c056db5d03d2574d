// What upstream's gpu-to-llvm makes calls the runtime: a kernel adds 2.5 x to y.

// The runner is a program without sanitizers.
// UNSUPPORTED: sanitizers

// DEFINE: %{lower} = mlir-opt %s --pass-pipeline='builtin.module( \
// DEFINE:   convert-scf-to-cf, expand-strided-metadata, gpu.module(convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1}), \
// DEFINE:   convert-vector-to-llvm, convert-func-to-llvm, convert-cf-to-llvm, convert-arith-to-llvm, \
// DEFINE:   finalize-memref-to-llvm, gpu-to-llvm{use-bare-pointers-for-kernels=1}, \
// DEFINE:   gpu-module-to-binary{format=isa}, reconcile-unrealized-casts)'
// DEFINE: %{run} = env FAD_CUDA_DRIVER=%fad_fake_cuda FAD_FAKE_CUDA_DEVICES=2 FAD_FAKE_CUDA_KERNELS=%fad_fake_kernels FAD_FAKE_CUDA_LOG=%t.log \
// DEFINE:   mlir-runner %t.mlir -entry-point-result=void \
// DEFINE:   -shared-libs=%fad_cuda_runtime,%mlir_lib_dir/libmlir_runner_utils.so,%mlir_lib_dir/libmlir_c_runner_utils.so

// RUN: %{lower} -o %t.mlir
// RUN: rm -f %t.log
// RUN: %{run} -e main | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG --input-file=%t.log

// CHECK: [1,  3.5,  6,  8.5]
// CHECK: status 0

// LOG:     cuModuleLoadDataEx level=2
// LOG-DAG: cuMemAllocManaged 16
// LOG-DAG: cuMemHostRegister 16
// LOG:     cuStreamCreate flags=1
// LOG:     cuMemAlloc 16
// LOG:     cuMemsetD32Async 4
// LOG:     cuMemAlloc 8
// LOG:     cuMemsetD16Async 4
// LOG:     cuEventCreate flags=2
// LOG:     cuEventRecord
// LOG:     cuStreamWaitEvent
// LOG:     cuLaunchKernel axpy grid=2,1,1 block=2,1,1 {{.*}},00002040,04000000
// LOG:     cuMemcpyAsync 16
// LOG:     cuStreamSynchronize
// LOG:     cuStreamDestroy
// LOG:     cuMemHostUnregister
// LOG:     cuModuleUnload

// With clusters, and on another device than the module was first loaded for.
// RUN: rm -f %t.log
// RUN: %{run} -e clusters | FileCheck %s --check-prefix=STATUS
// RUN: FileCheck %s --check-prefix=CLUSTERS --input-file=%t.log
// RUN: rm -f %t.log
// RUN: %{run} -e device | FileCheck %s --check-prefix=STATUS
// RUN: FileCheck %s --check-prefix=DEVICE --input-file=%t.log

// STATUS: status 0

// CLUSTERS: cuLaunchKernelEx cluster=2,1,1 axpy grid=4,1,1 block=8,1,1 shared=256

// DEVICE:     cuCtxPushCurrent 0
// DEVICE:     cuModuleLoadDataEx
// DEVICE:     cuCtxSetCurrent 1
// DEVICE:     cuModuleLoadDataEx
// DEVICE:     cuLaunchKernel axpy
// DEVICE-NOT: cuModuleLoadDataEx
// DEVICE:     cuLaunchKernel axpy
// DEVICE:     cuModuleUnload
// DEVICE:     cuModuleUnload

// Code that meets an error comes to its end, prints the first one, and leaves it
// to be asked for, once. Nothing is copied meanwhile.
// RUN: rm -f %t.log
// RUN: env FAD_FAKE_CUDA_FAIL=cuLaunchKernel=1,cuStreamSynchronize=1 %{run} -e main 2>&1 | FileCheck %s --check-prefix=LAUNCH
// RUN: FileCheck %s --check-prefix=STOPPED --implicit-check-not=cuMemcpyAsync --input-file=%t.log
// LAUNCH:     error: mgpuLaunchKernel: cannot launch the kernel 'axpy' with 2 x 1 x 1 blocks of 2 x 1 x 1 threads and 0 bytes of shared memory: CUDA_ERROR_INVALID_VALUE: invalid argument
// LAUNCH-NOT: error:
// LAUNCH:     status 6
// LAUNCH:     mgpuLaunchKernel: cannot launch the kernel 'axpy' {{.*}}
// LAUNCH:     errors after it: 1
// LAUNCH:     status 0
// STOPPED:    cuLaunchKernel
// STOPPED:    cuModuleUnload

// Each function may be the first to fail.
// RUN: %python %S/Inputs/fail_each.py %{run} -e main | FileCheck %s --check-prefix=EACH
// EACH:     cuDevicePrimaryCtxRetain: mgpuModuleLoadJIT: cuDevicePrimaryCtxRetain
// EACH:     cuModuleLoadDataEx: mgpuModuleLoadJIT: cannot load the PTX: cuModuleLoadDataEx
// EACH:     cuModuleGetFunction: mgpuModuleGetFunction: cannot find the kernel 'axpy' in the module: cuModuleGetFunction
// EACH:     cuStreamCreate: mgpuStreamCreate: cuStreamCreate
// EACH:     cuEventCreate: mgpuEventCreate: cuEventCreate
// EACH:     cuEventRecord: mgpuEventRecord: cuEventRecord
// EACH:     cuStreamWaitEvent: mgpuStreamWaitEvent: cuStreamWaitEvent
// EACH:     cuMemAlloc: mgpuMemAlloc: cannot allocate 16 bytes: cuMemAlloc
// EACH:     cuMemAllocManaged: mgpuMemAlloc: cannot allocate 16 bytes: cuMemAllocManaged
// EACH:     cuMemsetD32Async: mgpuMemset32: cuMemsetD32Async
// EACH:     cuMemsetD16Async: mgpuMemset16: cuMemsetD16Async
// EACH:     cuMemcpyAsync: mgpuMemcpy: cuMemcpyAsync
// EACH:     cuMemHostRegister: mgpuMemHostRegister: cuMemHostRegister
// EACH:     cuMemHostUnregister: mgpuMemHostUnregister: cuMemHostUnregister
// EACH:     cuStreamSynchronize: mgpuStreamSynchronize: cuStreamSynchronize
// EACH:     cuStreamDestroy: mgpuStreamDestroy: cuStreamDestroy
// EACH:     cuEventDestroy: mgpuEventDestroy: cuEventDestroy
// EACH:     cuMemFree: mgpuMemFree: cuMemFree

// RUN: env FAD_FAKE_CUDA_FAIL=cuInit=100 %{run} -e main 2>&1 | FileCheck %s --check-prefix=NONE
// NONE:     error: mgpuModuleLoadJIT: there is no CUDA device: cuInit: CUDA_ERROR_NO_DEVICE
// NONE-NOT: error:
// NONE:     status 3

// A memref with gaps, and a grid that CUDA does not have.
// RUN: %{run} -e gaps 2>&1 | FileCheck %s --check-prefix=GAPS
// GAPS: error: mgpuMemHostRegisterMemRef: a memref with gaps between its elements cannot be registered; copy it to a dense one
// GAPS: status 4
// RUN: %{run} -e grid 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: error: mgpuLaunchKernel: cannot launch the kernel 'axpy' with 4294967297 x 1 x 1 blocks of {{.*}}: more than CUDA has
// GRID: status 4

module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
    gpu.func @axpy(%x: memref<4xf32>, %y: memref<4xf32>, %a: f32, %n: i32) kernel {
      gpu.return
    }
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %n = arith.constant 4 : i32
    %a = arith.constant 2.5 : f32
    %one = arith.constant 1.0 : f32
    %half = arith.constant 1.0 : f16
    %x = gpu.alloc host_shared () : memref<4xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      %integer = arith.index_cast %i : index to i32
      %float = arith.sitofp %integer : i32 to f32
      memref.store %float, %x[%i] : memref<4xf32>
    }
    %result = memref.alloc() : memref<4xf32>
    %unranked = memref.cast %result : memref<4xf32> to memref<*xf32>
    gpu.host_register %unranked : memref<*xf32>
    %begin = gpu.wait async
    %y, %t0 = gpu.alloc async [%begin] () : memref<4xf32>
    %t1 = gpu.memset async [%t0] %y, %one : memref<4xf32>, f32
    %h, %t2 = gpu.alloc async [%t1] () : memref<4xf16>
    %t3 = gpu.memset async [%t2] %h, %half : memref<4xf16>, f16
    // Two streams, one of which waits for the other.
    %other = gpu.wait async
    %t4 = gpu.dealloc async [%other] %h : memref<4xf16>
    %t5 = gpu.wait async [%t3, %t4]
    %t6 = gpu.launch_func async [%t5] @kernels::@axpy
        blocks in (%c2, %c1, %c1) threads in (%c2, %c1, %c1)
        args(%x : memref<4xf32>, %y : memref<4xf32>, %a : f32, %n : i32)
    %t7 = gpu.memcpy async [%t6] %result, %y : memref<4xf32>, memref<4xf32>
    %t8 = gpu.dealloc async [%t7] %y : memref<4xf32>
    %t9 = gpu.dealloc async [%t8] %x : memref<4xf32>
    gpu.wait [%t9]
    func.call @printMemrefF32(%unranked) : (memref<*xf32>) -> ()
    gpu.host_unregister %unranked : memref<*xf32>
    func.call @finish() : () -> ()
    return
  }

  func.func @clusters() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %shared = arith.constant 256 : i32
    %n = arith.constant 0 : i32
    %a = arith.constant 2.5 : f32
    %x = gpu.alloc host_shared () : memref<4xf32>
    gpu.launch_func @kernels::@axpy clusters in (%c2, %c1, %c1)
        blocks in (%c4, %c1, %c1) threads in (%c8, %c1, %c1)
        dynamic_shared_memory_size %shared
        args(%x : memref<4xf32>, %x : memref<4xf32>, %a : f32, %n : i32)
    func.call @finish() : () -> ()
    return
  }

  func.func @device() {
    %device = arith.constant 1 : i32
    gpu.set_default_device %device
    %c1 = arith.constant 1 : index
    func.call @launch(%c1) : (index) -> ()
    func.call @launch(%c1) : (index) -> ()
    func.call @finish() : () -> ()
    return
  }

  func.func @grid() {
    %blocks = arith.constant 4294967297 : index
    func.call @launch(%blocks) : (index) -> ()
    func.call @finish() : () -> ()
    return
  }

  func.func @launch(%blocks: index) {
    %c1 = arith.constant 1 : index
    %n = arith.constant 0 : i32
    %a = arith.constant 2.5 : f32
    %x = gpu.alloc host_shared () : memref<4xf32>
    gpu.launch_func @kernels::@axpy blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%x : memref<4xf32>, %x : memref<4xf32>, %a : f32, %n : i32)
    return
  }

  func.func @gaps() {
    %all = memref.alloc() : memref<4x4xf32>
    %part = memref.subview %all[0, 0] [4, 2] [1, 1]
        : memref<4x4xf32> to memref<4x2xf32, strided<[4, 1]>>
    %unranked = memref.cast %part
        : memref<4x2xf32, strided<[4, 1]>> to memref<*xf32>
    gpu.host_register %unranked : memref<*xf32>
    gpu.host_unregister %unranked : memref<*xf32>
    func.call @finish() : () -> ()
    return
  }

  // Asks for the error twice.
  func.func private @finish() {
    %first = func.call @fadCudaTakeError() : () -> i32
    vector.print str "status "
    vector.print %first : i32
    %message = func.call @fadCudaGetErrorMessage() : () -> !llvm.ptr
    func.call @puts(%message) : (!llvm.ptr) -> i32
    %second = func.call @fadCudaTakeError() : () -> i32
    vector.print str "status "
    vector.print %second : i32
    return
  }
  func.func private @fadCudaTakeError() -> i32
  func.func private @fadCudaGetErrorMessage() -> !llvm.ptr
  func.func private @puts(!llvm.ptr) -> i32
  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
}
