// RUN: rm -rf %t && mkdir -p %t/nvvm/libdevice %t/empty %t/broken/nvvm/libdevice
// RUN: llvm-as %S/Inputs/libdevice.ll -o %t/nvvm/libdevice/libdevice.10.bc
// RUN: echo "not bitcode" > %t/broken/nvvm/libdevice/libdevice.10.bc
// RUN: split-file %s %t

// RUN: fad-opt %t/calls.mlir -fad-kernels-to-binary=toolkit=%t -split-input-file -verify-diagnostics

// RUN: not fad-opt %t/missing.mlir -fad-kernels-to-binary=toolkit=%t/empty -o %t/out.mlir 2>&1 | FileCheck %t/missing.mlir -DTOOLKIT=%t/empty
// RUN: not fad-opt %t/missing.mlir -fad-kernels-to-binary=toolkit=%t/none 2>&1 | FileCheck %t/missing.mlir -DTOOLKIT=%t/none
// RUN: not ls %t/out.mlir

// RUN: not fad-opt %t/missing.mlir -fad-kernels-to-binary=toolkit=%t/broken 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: error: cannot read '{{.*}}libdevice.10.bc': {{.*}}; install the CUDA toolkit,

// RUN: not fad-opt %t/missing.mlir -fad-kernels-to-binary=format=ptx 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: error: unknown format 'ptx'; give isa, bin or fatbin

// RUN: not env PATH=%t/empty %fad_obj_root/bin/fad-opt %t/plain.mlir -fad-kernels-to-binary="toolkit=%t format=bin" 2>&1 | FileCheck %s --check-prefix=PTXAS
// PTXAS: error: format 'bin' takes ptxas, which is neither in the CUDA toolkit nor on the PATH; install the CUDA toolkit, or `pip install nvidia-nvvm nvidia-cuda-nvcc`, or name a toolkit with the option 'toolkit', or emit PTX with format=isa

//--- calls.mlir
gpu.module @unknown [#nvvm.target<chip = "sm_80">] {
  llvm.func @somewhere(f32) -> f32
  llvm.func @k(%p: !llvm.ptr, %x: f32) attributes {nvvm.kernel} {
    // expected-error @below {{kernel 'k' calls 'somewhere' as '!llvm.func<f32 (f32)>', which libdevice does not have; compute it from functions that it has}}
    %y = llvm.call @somewhere(%x) : (f32) -> f32
    // Each function is reported once.
    %z = llvm.call @somewhere(%y) : (f32) -> f32
    llvm.store %z, %p : f32, !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @declared [#nvvm.target<chip = "sm_80">] {
  llvm.func @__nv_sinf(f32) -> f32
  llvm.func @k(%p: !llvm.ptr, %x: f32) attributes {nvvm.kernel} {
    // expected-error @below {{kernel 'k' calls '__nv_sinf' as '!llvm.func<f32 (f32)>', which libdevice does not have}}
    %y = llvm.call @__nv_sinf(%x) : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @mistyped [#nvvm.target<chip = "sm_80">] {
  llvm.func @__nv_exp(f64) -> f64
  llvm.func @k(%p: !llvm.ptr, %x: f64) attributes {nvvm.kernel} {
    // expected-error @below {{kernel 'k' calls '__nv_exp' as '!llvm.func<f64 (f64)>', which is '!llvm.func<f64 (f32)>' in libdevice; convert the operands to these types first}}
    %y = llvm.call @__nv_exp(%x) : (f64) -> f64
    llvm.store %y, %p : f64, !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @unlowered [#nvvm.target<chip = "sm_80">] {
  llvm.func @k(%p: !llvm.ptr, %x: i32) attributes {nvvm.kernel} {
    // expected-error @below {{'math.ipowi' op has no lowering to NVVM; replace it by operations that have one}}
    %y = math.ipowi %x, %x : i32
    llvm.store %y, %p : i32, !llvm.ptr
    llvm.return
  }
}

//--- missing.mlir
// CHECK: missing.mlir:[[@LINE+4]]:{{.*}} error: kernel 'k' calls '__nv_expf' of NVIDIA's libdevice, but '[[TOOLKIT]]' has no nvvm/libdevice/libdevice.10.bc; install the CUDA toolkit, or `pip install nvidia-nvvm nvidia-cuda-nvcc`, or name a toolkit with the option 'toolkit'
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%p: !llvm.ptr, %x: f32) attributes {nvvm.kernel} {
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr
    llvm.return
  }
}

//--- plain.mlir
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  llvm.func @k(%p: !llvm.ptr, %x: f32) attributes {nvvm.kernel} {
    llvm.store %x, %p : f32, !llvm.ptr
    llvm.return
  }
}
