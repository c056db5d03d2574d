// What a pass makes is verified after it, as in mlir-opt.

// RUN: not fad-opt %s --test-fad-break --test-fad-break 2>&1 | FileCheck %s
// RUN: fad-opt %s --verify-each=false --test-fad-break --test-fad-break | FileCheck %s --check-prefix=TWICE
// RUN: not fad-opt %s.none 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not fad-opt %s -o %t.none/out.mlir 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: fad-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS

// CHECK: error: operand #0 does not dominate this use
// TWICE: math.exp
// TWICE: math.tanh
// INPUT: cannot open input file
// OUTPUT: cannot open output file
// DIALECTS: Available Dialects: {{.*}}fad

func.func @f(%x: f32) -> f32 {
  %y = math.exp %x : f32
  %z = math.tanh %y : f32
  return %z : f32
}
