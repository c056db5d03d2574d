// Gradients against closed forms in numpy, under every policy.

// DEFINE: %{policy} =
// DEFINE: %{make} = %python %S/Inputs/make_arrays.py %t
// DEFINE: %{run} = fad-runner %s --out=%t --policy=%{policy}
// DEFINE: %{check} = %python %S/Inputs/check_arrays.py %t

// DEFINE: %{all} = %{make} 'x=rng.normal(size=(6, 4))' 'n=np.arange(6)' 'w=rng.normal(size=4)' \
// DEFINE:     'c0=rng.normal(size=(6, 4))' 'c3=rng.normal(size=())' && \
// DEFINE:   %{run} --entry=several --arg=%t/x.npy --arg=%t/n.npy --arg=0.5 --arg=%t/w.npy \
// DEFINE:     --cotangent=%t/c0.npy --cotangent=2 --cotangent=%t/c3.npy && \
// DEFINE:   %{check} 'close(out0, np.exp(np.sin(x)) * w, 1e-14)' 'close(out1, 2 * n)' \
// DEFINE:     'close(out2, x)' 'close(out3, np.asarray(0.5 * x.sum()), 1e-13)' \
// DEFINE:     'close(grad0, c0 * w * np.exp(np.sin(x)) * np.cos(x) + 2 + 0.5 * c3, 1e-13)' \
// DEFINE:     'close(grad3, (c0 * np.exp(np.sin(x))).sum(axis=0), 1e-13)'

// REDEFINE: %{policy} = bp
// RUN: %{all}
// REDEFINE: %{policy} = recompute
// RUN: %{all}
// REDEFINE: %{policy} = fad
// RUN: %{all}

// Only what is asked for, in the order of the arguments.
// RUN: fad-runner %s --entry=several --policy=fad --wrt=3 --size=6 --arg=1 --arg=0 --arg=1 --arg=1 \
// RUN:   | FileCheck %s --check-prefix=WRT
// RUN: fad-runner %s --entry=several --policy=fad --wrt=3,0 --size=6 --arg=1 --arg=0 --arg=1 --arg=1 \
// RUN:   | FileCheck %s --check-prefixes=BOTH,WRT
// WRT-NOT:  grad0
// BOTH:     grad0: tensor<6x4xf64>
// WRT:      grad3: tensor<4xf64> = [13.91866, 13.91866, 13.91866, 13.91866]

func.func @several(%x: tensor<?x4xf64>, %n: tensor<?xi64>, %scale: f64, %w: tensor<4xf64>)
    -> (tensor<?x4xf64>, tensor<?xi64>, tensor<?x4xf64>, tensor<f64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %rows = tensor.dim %x, %c0 : tensor<?x4xf64>
  %empty = tensor.empty(%rows) : tensor<?x4xf64>
  %s = math.sin %x : tensor<?x4xf64>
  %e = math.exp %s : tensor<?x4xf64>
  %rowsOfW = linalg.broadcast ins(%w : tensor<4xf64>)
      outs(%empty : tensor<?x4xf64>) dimensions = [0]
  %y = arith.mulf %e, %rowsOfW : tensor<?x4xf64>
  %twice = arith.addi %n, %n : tensor<?xi64>
  %start = tensor.from_elements %zero : tensor<f64>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x4xf64>) outs(%start : tensor<f64>) {
  ^bb0(%in: f64, %out: f64):
    %scaled = arith.mulf %in, %scale : f64
    %r = arith.addf %scaled, %out : f64
    linalg.yield %r : f64
  } -> tensor<f64>
  return %y, %twice, %x, %sum : tensor<?x4xf64>, tensor<?xi64>, tensor<?x4xf64>, tensor<f64>
}

// A cotangent has the shape of the result as it is at run time.
// RUN: not fad-runner %s --entry=several --policy=fad --size=5 --cotangent=%t/c0.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHAPE
// SHAPE: gradients.mlir:{{.*}}: error: the cotangent of result 0: '{{.*}}c0.npy' has shape (6, 4), but shape (5, 4) is expected

// What a request attribute asks for, unless --wrt says otherwise.
// RUN: fad-runner %s --entry=requested --policy=fad | FileCheck %s --check-prefix=REQUEST
// REQUEST-NOT: grad0
// REQUEST:     grad1
func.func @requested(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32>
    attributes {fad.request = #fad.request<wrt = [1]>} {
  %z = arith.mulf %x, %y : tensor<3xf32>
  return %z : tensor<3xf32>
}

// No elements, and no dependence.
// RUN: fad-runner %s --entry=independent --policy=fad --size=0 | FileCheck %s --check-prefix=ZERO
// ZERO: grad0: tensor<0xf32> = []
// ZERO: grad1: tensor<2xf32> = [0, 0]
func.func @independent(%x: tensor<?xf32>, %y: tensor<2xf32>) -> tensor<?xf32> {
  %z = math.exp %x : tensor<?xf32>
  return %z : tensor<?xf32>
}
