// RUN: fad-opt %s | fad-opt | FileCheck %s
// RUN: fad-opt %s --mlir-print-op-generic | fad-opt | FileCheck %s

// CHECK-LABEL: func @kinds(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x2xf32>)
func.func @kinds(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> (tensor<8x4xf32>, tensor<4x2xf32>, tensor<4xf32>, tensor<4x8xi1>) {
  // CHECK-NEXT: %[[T:.*]] = fad.opaque "aten.t" view (%[[X]]) {fad.nodes = ["t"]} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %t = fad.opaque "aten.t" view (%x) {fad.nodes = ["t"]} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = fad.opaque "aten.mm" contraction time 64 (%[[X]], %[[W]]) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %y = fad.opaque "aten.mm" contraction time 64 (%x, %w) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[MAX:.*]]:2 = fad.opaque "aten.max" reduction (%[[X]]) {fad.nodes = ["max", "argmax"]} : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  %m:2 = fad.opaque "aten.max" reduction (%x) {fad.nodes = ["max", "argmax"]} : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  // CHECK-NEXT: %[[MASK:.*]] = fad.opaque "bernoulli" keep () : () -> tensor<4x8xi1>
  %mask = fad.opaque "bernoulli" keep () : () -> tensor<4x8xi1>
  // CHECK-NEXT: return %[[T]], %[[Y]], %[[MAX]]#0, %[[MASK]]
  return %t, %y, %m#0, %mask : tensor<8x4xf32>, tensor<4x2xf32>, tensor<4xf32>, tensor<4x8xi1>
}

// CHECK-LABEL: func @fuses() attributes {fad.fuses = #fad.fusion<>}
func.func @fuses() attributes {fad.fuses = #fad.fusion<>} {
  return
}

// CHECK-LABEL: func @proposals() attributes {fad.proposals = {{\[\["x", "y"\], \[\]\]}}}
func.func @proposals() attributes {fad.proposals = [["x", "y"], []]} {
  return
}

// CHECK-LABEL: func @limits() attributes {fad.fuses = #fad.fusion<reads = 12, operations = 100, shared_reads = 4, shared_operations = 50, split_rows = 32, split_sums = 16384, once = ["math.exp"]>}
func.func @limits() attributes {fad.fuses = #fad.fusion<once = ["math.exp"], split_sums = 16384, split_rows = 32, shared_operations = 50, shared_reads = 4, operations = 100, reads = 12>} {
  return
}
