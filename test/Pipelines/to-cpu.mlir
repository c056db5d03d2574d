// RUN: fad-opt %s -fad-to-cpu | FileCheck %s
// RUN: fad-opt %s -fad-to-cpu | mlir-translate -mlir-to-llvmir | FileCheck %s --check-prefix=LLVM
// RUN: fad-opt %s -fad-to-cpu=parallel=false | FileCheck %s --check-prefixes=CHECK,SERIAL
// RUN: fad-opt %s -fad-to-cpu="parallel=false results-to-arguments=true" | FileCheck %s --check-prefix=ARGUMENTS
// RUN: fad-opt %s -fad-to-cpu=check-shapes=true | FileCheck %s --check-prefix=CHECKED
// RUN: fad-opt %S/../../examples/ffn/gelu.mlir -fad-nest -fad-to-cpu | mlir-translate -mlir-to-llvmir -o /dev/null
//
// Executed in to-cpu-run.mlir.

// Nothing but the LLVM dialect is left, and OpenMP's where there are threads.
// CHECK-NOT: {{^ *(%.* = )?}}{{(fad|linalg|tensor|memref|scf|cf|arith|math|affine|func|bufferization)\.}}
// SERIAL-NOT: omp.

// CHECK-LABEL: llvm.func @silu(
// CHECK:         llvm.call @malloc
// CHECK-NOT:     llvm.call @expf
// CHECK:         llvm.fdiv %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NOT:     llvm.call @expf
// LLVM-LABEL: define {{.*}} @silu(
// LLVM:         call {{.*}} @__kmpc_fork_call
// CHECKED-LABEL: llvm.func @silu(
// ARGUMENTS-LABEL: llvm.func @silu(
// ARGUMENTS-SAME:    ) {
// ARGUMENTS-NOT:     llvm.call @malloc
// ARGUMENTS:         llvm.return{{$}}
func.func @silu(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = fad.elementwise ins(%x : tensor<?x?xf32>) attributes {fad.region = 0} -> tensor<?x?xf32> {
  ^bb0(%a: f32):
    %1 = fad.silu %a : f32
    fad.yield %1 : f32
  }
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: llvm.func @sum(
// CHECKED-LABEL: llvm.func @sum(
// CHECKED:         llvm.call @abort
func.func @sum(%x: tensor<?xbf16>, %y: tensor<?xbf16>) -> tensor<?xbf16> {
  %0 = arith.addf %x, %y : tensor<?xbf16>
  return %0 : tensor<?xbf16>
}

// What a loop updates in place is a result without a copy, also beside another one.
// CHECK-LABEL: llvm.func @rows_and_sum(
// CHECK-COUNT-2: llvm.call @malloc(
// CHECK-NOT:     llvm.call @malloc(
// CHECK-NOT:     llvm.call @memrefCopy
// CHECK-NOT:     llvm.intr.memcpy
// CHECK-LABEL: llvm.func @after(
func.func @rows_and_sum(%u: tensor<6x?xf32>, %i: tensor<6xi64>, %n: index, %x: tensor<4xf32>)
    -> (tensor<9x?xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<9x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<9x?xf32>) -> tensor<9x?xf32>
  %r = fad.scatter_add %u at (%i : tensor<6xi64>) dims [0] into %zeros : tensor<6x?xf32> -> tensor<9x?xf32>
  %s = arith.addf %x, %x : tensor<4xf32>
  return %r, %s : tensor<9x?xf32>, tensor<4xf32>
}
func.func @after() {
  return
}

// LLVM leaves loops of vectors as they are.
// LLVM: br label %{{.*}}, !llvm.loop ![[LOOP:.*]]
// LLVM: ![[LOOP]] = distinct !{![[LOOP]], ![[UNROLL:.*]]}
// LLVM: ![[UNROLL]] = !{!"llvm.loop.unroll.disable"}
