// RUN: fad-opt %s --fad-check-sizes | FileCheck %s

// One element less than 2^59.
// CHECK-LABEL: @largest
func.func @largest(%x: tensor<576460752303423487xi1>, %y: tensor<?x576460752303423487x0xf64>, %z: tensor<*xf32>) {
  return
}
