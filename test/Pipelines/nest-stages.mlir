// Each stage of the README's picture changes the program after the ones before it. The
// candidates of the policy auto pass through the same stages, one after the other.

// RUN: split-file %s %t
// RUN: fad-opt %t/program.mlir --fad-nest=policy=fad --mlir-print-ir-after-all --mlir-print-ir-after-change -o /dev/null 2>&1 | %python %S/Inputs/check_stages.py %fad_src_root | FileCheck %s
// RUN: fad-opt %t/program.mlir --fad-nest --mlir-print-ir-after-all --mlir-print-ir-after-change -o /dev/null 2>&1 | %python %S/Inputs/check_stages.py %fad_src_root | FileCheck %s
// RUN: fad-opt %t/program.mlir --fad-nest --mlir-print-ir-after-all --mlir-print-ir-after-change -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: fad-opt %t/joint.mlir --fad-nest --mlir-print-ir-after-all --mlir-print-ir-after-change -o /dev/null 2>&1 | %python %S/Inputs/check_stages.py %fad_src_root | FileCheck %s --check-prefix=JOINT
// RUN: sed 's/ {fad[^}]*}//' %t/joint.mlir > %t/unmarked.mlir
// RUN: fad-opt %t/unmarked.mlir --fad-nest="cotangents=1 cotangents-of=0" --mlir-print-ir-after-all --mlir-print-ir-after-change -o /dev/null 2>&1 | %python %S/Inputs/check_stages.py %fad_src_root | FileCheck %s --check-prefix=JOINT

// CHECK:      stages: Import Raise Partition Differentiate Residuals Split Schedule
// CHECK-NEXT: in the picture's order

// One pass compares the candidates, of which each has a selection.

// LEAST:     IR Dump After FadSelectResiduals
// LEAST:     IR Dump After FadSelectResiduals
// LEAST:     IR Dump After FadSelectResiduals
// LEAST-NOT: IR Dump After FadSelectResiduals
// LEAST:     IR Dump After FadSelectLeast
// LEAST-NOT: IR Dump After FadSelectLeast

//--- program.mlir
func.func @block(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  %negative = arith.negf %h : tensor<4x8xf32>
  %exp = math.exp %negative : tensor<4x8xf32>
  %sum = arith.addf %exp, %one : tensor<4x8xf32>
  %sigmoid = arith.divf %one, %sum : tensor<4x8xf32>
  %silu = arith.mulf %sigmoid, %h : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.softmax dimension(1) ins(%silu : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// A function that is differentiated already gets its name as a joint function from
// fad-differentiate, and no adjoints. Its marks may be options, too.

// JOINT:      stages: Import Raise Partition Joint Differentiate Residuals Split Schedule
// JOINT-NEXT: in the picture's order

//--- joint.mlir
func.func @joint(%x: tensor<4x8xf32>, %g: tensor<4x8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4x8xf32>, tensor<4x8xf32> {fad.gradient = 0 : i64}) {
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %negative = arith.negf %x : tensor<4x8xf32>
  %exp = math.exp %negative : tensor<4x8xf32>
  %sum = arith.addf %exp, %one : tensor<4x8xf32>
  %sigmoid = arith.divf %one, %sum : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.softmax dimension(1) ins(%sigmoid : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = math.cos %x : tensor<4x8xf32>
  %s = arith.mulf %c, %sigmoid : tensor<4x8xf32>
  %d = arith.mulf %g, %s : tensor<4x8xf32>
  return %y, %d : tensor<4x8xf32>, tensor<4x8xf32>
}
