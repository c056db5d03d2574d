// RUN: rm -f %t.ptx
// RUN: fad-translate %s -gpu-binary-to-ptx | FileCheck %s
// RUN: fad-translate %s -gpu-binary-to-ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx

// Only the text of the object, not the program around it.
// CHECK-NOT:  {{.}}
// CHECK:      .version 7.8
// CHECK-NEXT: .target sm_90
// CHECK-NOT:  {{.}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = fad.elementwise ins(%x : tensor<4xf32>) attributes {fad.kernel = @kernels::@f_0} -> tensor<4xf32> {
  ^bb0(%a: f32):
    %r = fad.relu %a : f32
    fad.yield %r : f32
  }
  return %0 : tensor<4xf32>
}
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, assembly = ".version 7.8\0A.target sm_90\0A">]
