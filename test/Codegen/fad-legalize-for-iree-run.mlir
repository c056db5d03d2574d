// Values against libm, tails included.

// RUN: %python %S/Inputs/check_erfc.py make %t
// RUN: fad-opt %s -fad-legalize-for-iree -o %t/legal.mlir
// RUN: fad-runner %t/legal.mlir --arg=%t/x.npy --out=%t
// RUN: %python %S/Inputs/check_erfc.py check %t

func.func @erfc(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = math.erfc %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
