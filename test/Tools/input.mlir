// Text of a file is printed for a terminal that obeys none of it.

// RUN: not fad-runner %s --entry=f 2>&1 | FileCheck %s
// RUN: not fad-memory-report %s --entry=f 2>&1 | FileCheck %s --check-prefix=REPORT

// CHECK: input.mlir:[[#@LINE+2]]:1: error: @\1B[2Jü\C2\9Bü\7F is called by @f and has no body
// CHECK-NEXT: func.func private @"\1B[2Jü\C2\9Bü\7F"(tensor<2xf32>) -> tensor<2xf32>
func.func private @"\1B[2Jü\C2\9Bü\7F"(tensor<2xf32>) -> tensor<2xf32>

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  // REPORT: error: {{.*}}\1B[2J
  %y = call @"\1B[2Jü\C2\9Bü\7F"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// RUN: fad-memory-report %s --entry=g --policy=fad --locations | FileCheck %s --check-prefix=TABLE
// TABLE: \1B[31m
func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = math.exp %x : tensor<2xf32> loc("\1B[31m")
  %z = math.sin %y : tensor<2xf32> loc("\1B[31m")
  %c = tensor.collapse_shape %z [[0]] : tensor<2xf32> into tensor<2xf32>
  return %c : tensor<2xf32>
}

// A device may have no end.
// RUN: not fad-opt /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not fad-runner /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not fad-memory-report /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: cannot open input file '/dev/null': it is a device; give a file, a pipe, or - for the standard input
// RUN: cat %s | not fad-runner /dev/stdin --entry=f 2>&1 | FileCheck %s --check-prefix=PIPE
// PIPE: error: @\1B[2J

// Nor does it obey a name that is no file's.
// RUN: not %python -c "import os, sys; os.execvp(sys.argv[1], [sys.argv[1], '\x1b[2J'])" fad-runner 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not %python -c "import os, sys; os.execvp(sys.argv[1], [sys.argv[1], '\x1b[2J'])" fad-memory-report 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: cannot open input file '\1B[2J'
