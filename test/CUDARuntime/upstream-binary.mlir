// A binary in the program, and functions that gpu-to-llvm does not call by itself.

// The runner is a program without sanitizers.
// UNSUPPORTED: sanitizers

// DEFINE: %{lower} = mlir-opt --pass-pipeline='builtin.module( \
// DEFINE:   convert-vector-to-llvm, convert-func-to-llvm, convert-arith-to-llvm, \
// DEFINE:   gpu-to-llvm, reconcile-unrealized-casts)'
// DEFINE: %{run} = env FAD_CUDA_DRIVER=%fad_fake_cuda FAD_FAKE_CUDA_LOG=%t.log \
// DEFINE:   mlir-runner -e main -entry-point-result=void \
// DEFINE:   -shared-libs=%fad_cuda_runtime,%mlir_lib_dir/libmlir_c_runner_utils.so

// RUN: rm -f %t.log
// RUN: %{lower} %s | %{run} | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG --input-file=%t.log

// CHECK: {{^0$}}

// LOG: cuModuleLoadDataEx level=4
// LOG: cuLaunchKernel f grid=3,1,1 block=1,1,1 shared=0 stream=1 parameters=03000000
// LOG: cuEventCreate flags=2
// LOG: cuEventRecord stream=0
// LOG: cuEventSynchronize
// LOG: cuMemHostRegister 8
// LOG: cuMemHostUnregister

// RUN: sed s/.version/version/ %s | %{lower} | %{run} 2>&1 | FileCheck %s --check-prefix=FAULTY
// FAULTY:      error: mgpuModuleLoad: cannot compile the PTX: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed
// FAULTY-NEXT: error log:
// FAULTY-NEXT: ptxas application ptx input, line 1; fatal   : Missing .version directive at start of file
// FAULTY:      {{^5$}}

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, bin = ".version 8.0\0A.visible .entry f(.param .u32 n) { ret; }">]

  func.func @main() {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %n = arith.constant 3 : i32
    gpu.launch_func @kernels::@f blocks in (%c3, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%n : i32)
    %null = llvm.mlir.zero : !llvm.ptr
    %event = func.call @mgpuEventCreate() : () -> !llvm.ptr
    func.call @mgpuEventRecord(%event, %null) : (!llvm.ptr, !llvm.ptr) -> ()
    func.call @mgpuEventSynchronize(%event) : (!llvm.ptr) -> ()
    func.call @mgpuEventDestroy(%event) : (!llvm.ptr) -> ()
    %one = arith.constant 1 : i64
    %bytes = arith.constant 8 : i64
    %memory = llvm.alloca %one x i64 : (i64) -> !llvm.ptr
    func.call @mgpuMemHostRegister(%memory, %bytes) : (!llvm.ptr, i64) -> ()
    func.call @mgpuMemHostUnregister(%memory) : (!llvm.ptr) -> ()
    %status = func.call @fadCudaTakeError() : () -> i32
    vector.print %status : i32
    return
  }
  func.func private @mgpuEventCreate() -> !llvm.ptr
  func.func private @mgpuEventRecord(!llvm.ptr, !llvm.ptr)
  func.func private @mgpuEventSynchronize(!llvm.ptr)
  func.func private @mgpuEventDestroy(!llvm.ptr)
  func.func private @mgpuMemHostRegister(!llvm.ptr, i64)
  func.func private @mgpuMemHostUnregister(!llvm.ptr)
  func.func private @fadCudaTakeError() -> i32
}
