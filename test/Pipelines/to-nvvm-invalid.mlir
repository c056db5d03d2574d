// RUN: rm -rf %t && mkdir -p %t/empty
// RUN: fad-opt %s -fad-to-nvvm=toolkit=%t/empty -split-input-file -verify-diagnostics

// RUN: not fad-opt %s -fad-to-nvvm=chip=sm_10 -split-input-file 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'sm_10'; give one of: sm_70,

func.func @libdevice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: f32):
    // expected-error-re @below {{kernel 'libdevice_0' calls '__nv_log1pf' of NVIDIA's libdevice, but '{{.*}}/empty' has no nvvm/libdevice/libdevice.10.bc; install the CUDA toolkit, or `pip install nvidia-nvvm nvidia-cuda-nvcc`, or name a toolkit with the option 'toolkit'}}
    %y = math.log1p %a : f32
    fad.yield %y : f32
  }
  return %0 : tensor<?xf32>
}

// -----

func.func @unlowered(%x: tensor<?xi32>) -> tensor<?xi32> {
  %0 = fad.elementwise ins(%x : tensor<?xi32>) -> tensor<?xi32> {
  ^bb0(%a: i32):
    // expected-error @below {{'math.ipowi' op has no lowering to NVVM; replace it by operations that have one}}
    %y = math.ipowi %a, %a : i32
    fad.yield %y : i32
  }
  return %0 : tensor<?xi32>
}
