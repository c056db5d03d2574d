// Random arguments are the same in every run, on every machine. Static tensors of
// rank 2 or more count as weights, of variance 1/2500 here.

// RUN: fad-runner %s --size=4 | FileCheck %s
// RUN: fad-runner %s --size=4 --arg=random:0 --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: fad-runner %s --size=4 --arg=random:1 | FileCheck %s --check-prefix=SEED
// CHECK:      out0: tensor<4xf32> = [-0.4527577, 2.650606, -0.9886041, 0.2524627]
// CHECK-NEXT: out1: tensor<4x2500xf32> min -0.07869 max 0.06665 mean -2.279e-05
// CHECK-NEXT: out2: tensor<4x4xf64> min -2.426 max 0.3454 mean -0.5769
// CHECK-NEXT: out3: tensor<1000xi32> min 0 max 1 mean 0.{{(4|5).*}}
// SEED-NOT:   out0: tensor<4xf32> = [-0.4527577
func.func @arguments(%x: tensor<?xf32>, %weights: tensor<4x2500xf32>, %data: tensor<?x4xf64>,
    %n: tensor<1000xi32>) -> (tensor<?xf32>, tensor<4x2500xf32>, tensor<?x4xf64>, tensor<1000xi32>) {
  return %x, %weights, %data, %n
      : tensor<?xf32>, tensor<4x2500xf32>, tensor<?x4xf64>, tensor<1000xi32>
}
