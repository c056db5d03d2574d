// A maximum has a derivative even where only the end of a body tells what it is
// used for; and the iterations of a loop are counted without sign.

// RUN: fad-runner %s --entry=branch --policy=fad --arg=random:1 --arg=1 \
// RUN:   --check-gradients | FileCheck %s
// RUN: fad-runner %s --entry=loop --policy=fad --arg=random:1 --arg=3 \
// RUN:   --check-gradients | FileCheck %s
// RUN: fad-runner %s --entry=loop --policy=bp --arg=random:1 --arg=3 \
// RUN:   --check-gradients | FileCheck %s
// RUN: fad-runner %s --entry=narrow --policy=recompute --arg=random:1 \
// RUN:   --arg=-100 --arg=100 --check-gradients | FileCheck %s

// CHECK: gradients under policy
// CHECK: {{^0 .* ok$}}

func.func @branch(%x: tensor<4xf64>, %c: i1) -> tensor<f64> {
  %i = arith.constant dense<0xFFF0000000000000> : tensor<f64>
  %z = arith.constant dense<0.0> : tensor<f64>
  %r = scf.if %c -> tensor<f64> {
    %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4xf64>)
      outs(%i : tensor<f64>) dimensions = [0]
    scf.yield %m : tensor<f64>
  } else {
    scf.yield %z : tensor<f64>
  }
  return %r : tensor<f64>
}

// exp(x - max x), summed up, but not divided by the sum: the maximum stays.
func.func @loop(%x: tensor<4xf64>, %n: index) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = arith.constant dense<0xFFF0000000000000> : tensor<f64>
  %z = arith.constant dense<0.0> : tensor<f64>
  %e = tensor.empty() : tensor<4xf64>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %z) -> tensor<f64> {
    %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4xf64>)
      outs(%i : tensor<f64>) dimensions = [0]
    %exp = linalg.generic {
        indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,
                         affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]}
      ins(%x, %m : tensor<4xf64>, tensor<f64>) outs(%e : tensor<4xf64>) {
    ^bb0(%a: f64, %b: f64, %out: f64):
      %d = arith.subf %a, %b : f64
      %y = math.exp %d : f64
      linalg.yield %y : f64
    } -> tensor<4xf64>
    %s = linalg.reduce { arith.addf } ins(%exp : tensor<4xf64>)
      outs(%sum : tensor<f64>) dimensions = [0]
    scf.yield %s : tensor<f64>
  }
  return %r : tensor<f64>
}

// 200 iterations, more than an i8 with a sign counts.
func.func @narrow(%x: tensor<2xf64>, %lo: i8, %hi: i8) -> tensor<2xf64> {
  %c1 = arith.constant 1 : i8
  %r = scf.for %k = %lo to %hi step %c1 iter_args(%a = %x)
      -> tensor<2xf64> : i8 {
    %s = math.sin %a : tensor<2xf64>
    scf.yield %s : tensor<2xf64>
  }
  return %r : tensor<2xf64>
}
