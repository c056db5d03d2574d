// A toolkit takes the form that a CUDA toolkit has.
// RUN: rm -rf %t && mkdir -p %t/nvvm/libdevice %t/empty
// RUN: llvm-as %S/Inputs/libdevice.ll -o %t/nvvm/libdevice/libdevice.10.bc
// RUN: split-file %s %t

// The library is linked: by option, and by either variable of the environment.
// RUN: fad-opt %t/call.mlir -fad-kernels-to-binary=toolkit=%t | FileCheck %t/call.mlir
// RUN: env CUDA_HOME=%t fad-opt %t/call.mlir -fad-kernels-to-binary | FileCheck %t/call.mlir
// RUN: env -u CUDA_HOME CUDA_PATH=%t fad-opt %t/call.mlir -fad-kernels-to-binary | FileCheck %t/call.mlir
// A variable that names no toolkit is passed over.
// RUN: env CUDA_HOME=%t/empty CUDA_PATH=%t fad-opt %t/call.mlir -fad-kernels-to-binary | FileCheck %t/call.mlir

// Without calls there is nothing to link, so any toolkit does, silently.
// RUN: fad-opt %t/plain.mlir -fad-kernels-to-binary=toolkit=%t 2>&1 | FileCheck %t/plain.mlir
// RUN: fad-opt %t/plain.mlir -fad-kernels-to-binary=toolkit=%t/empty 2>&1 | FileCheck %t/plain.mlir
// RUN: fad-opt %t/plain.mlir -fad-kernels-to-binary=toolkit=%t/none 2>&1 | FileCheck %t/plain.mlir
// RUN: env CUDA_HOME=%t/none fad-opt %t/plain.mlir -fad-kernels-to-binary 2>&1 | FileCheck %t/plain.mlir

//--- call.mlir
// 0x4640E400 is 12345.
// CHECK:     gpu.binary @kernels {{.*}}.target sm_80
// CHECK-NOT: .extern
// CHECK:     0f4640E400
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%p: !llvm.ptr, %x: f32) attributes {nvvm.kernel} {
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr
    llvm.return
  }
}

//--- plain.mlir
// CHECK-NOT: error
// CHECK:     gpu.binary @kernels {{.*}}.target sm_80
// CHECK-NOT: error
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  llvm.func @k(%p: !llvm.ptr, %x: f32) attributes {nvvm.kernel} {
    llvm.store %x, %p : f32, !llvm.ptr
    llvm.return
  }
}
