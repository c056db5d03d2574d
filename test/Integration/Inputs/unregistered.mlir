// Operations of a dialect that nobody has registered, wherever passes look.

func.func @value(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = "other.compute"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = math.tanh %y : tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// -----

func.func @beside(%x: tensor<4x8xf32>, %i: tensor<4xi32>) -> (tensor<4x8xf32>, tensor<4xi32>) {
  %j = "other.compute"(%i) : (tensor<4xi32>) -> tensor<4xi32>
  "other.effect"(%j) : (tensor<4xi32>) -> ()
  %s = "other.make"() : () -> f32
  %t = tensor.splat %s : tensor<4x8xf32>
  %y = arith.mulf %x, %t : tensor<4x8xf32>
  %z = math.exp %y : tensor<4x8xf32>
  return %z, %j : tensor<4x8xf32>, tensor<4xi32>
}

// -----

func.func @scalars(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = "other.compute"(%a) : (f32) -> f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @constants(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = "other.make"() : () -> f32
    %t = arith.mulf %a, %s : f32
    %u = arith.addf %t, %o : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @regions(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %b = math.sin %a : tensor<4xf32>
    "other.region"() ({}) : () -> ()
    %c = "other.region"() ({
    ^bb0(%d: tensor<4xf32>):
      "other.yield"(%d, %n) : (tensor<4xf32>, index) -> ()
    }) : () -> index
    scf.yield %b : tensor<4xf32>
  }
  %p = arith.cmpi eq, %n, %c0 : index
  %z = scf.if %p -> tensor<4xf32> {
    %q = "other.compute"(%y) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}

// -----

func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  "other.branch"()[^bb1, ^bb2] : () -> ()
^bb1:
  return %x : tensor<4xf32>
^bb2:
  "other.end"(%x) : (tensor<4xf32>) -> ()
}

// -----

func.func @end(%x: tensor<4xf32>) -> tensor<4xf32> {
  "other.end"(%x) : (tensor<4xf32>) -> ()
}

// -----

func.func @end(%x: tensor<4xf32>, %d: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  "other.end"(%x, %d) : (tensor<4xf32>, tensor<4xf32>) -> ()
}

// -----

func.func @forward(%x: tensor<4xf32>, %d: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %y = "other.compute"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = "other.make"() : () -> f32
  %t = tensor.splat %s : tensor<4xf32>
  %z = arith.mulf %y, %t : tensor<4xf32>
  %e = math.exp %z : tensor<4xf32>
  %g = arith.mulf %d, %e : tensor<4xf32>
  return %z, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @backward(%x: tensor<4xf32>, %d: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %g = "other.compute"(%d, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  "other.effect"(%g) : (tensor<4xf32>) -> ()
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @bodies(%x: tensor<4xf32>, %d: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = "other.compute"(%a) : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%d, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = "other.compute"(%a, %b) : (f32, f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @buffers(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = "other.compute"(%a) : (f32) -> f32
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  }
  "other.effect"(%x) : (memref<4xf32>) -> ()
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<4xf32>
    %b = "other.compute"(%a) : (f32) -> f32
    %c = arith.divf %b, %a : f32
    memref.store %c, %y[%i] : memref<4xf32>
  }
  return
}

// -----

gpu.module @kernels {
  gpu.func @kernel(%x: memref<4xf32>, %h: memref<4xf16>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %x[%i] : memref<4xf32>
    %b = "other.compute"(%a) : (f32) -> f32
    %e = math.exp %b : f32
    %f = "other.compute"(%e) : (f32) -> f32
    %r = arith.truncf %f : f32 to f16
    memref.store %r, %h[%i] : memref<4xf16>
    gpu.return
  }
}
