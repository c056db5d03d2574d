// RUN: not fad-runner %s --entry=sum --size=3 2>&1 | FileCheck %s
// RUN: not fad-runner %s --entry=sum --size=3 --policy=auto --check-gradients 2>&1 | FileCheck %s
// RUN: not fad-memory-report %s --entry=sum 2>&1 | FileCheck %s

// What has no value is an error before anything is computed from it.
// CHECK:     divisors-invalid.mlir:[[#@LINE+3]]:8: error: 'linalg.generic' op divides by -3 in the indexing map of operand #0; give a divisor of at least 1
// CHECK-NOT: error
func.func @sum(%x: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ((d0 + d1) mod -3)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
