// RUN: fad-opt %s --fad-partition --split-input-file | FileCheck %s
// Partitioning again changes nothing.
// RUN: fad-opt %s --fad-partition --fad-partition --split-input-file | FileCheck %s

// A chain spelled with tensors, with one value used twice.

// CHECK-LABEL: func @chain(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32>)
// CHECK:         %[[Y:.*]] = fad.elementwise ins(%[[X]] : tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32):
// CHECK-NEXT:      %[[S:.*]] = math.sin %[[IN]] {fad.tape} : f32
// CHECK-NEXT:      %[[SS:.*]] = arith.mulf %[[S]], %[[S]] {fad.tape} : f32
// CHECK-NEXT:      fad.yield %[[SS]] : f32
// CHECK:         return %[[Y]]
func.func @chain(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = math.sin %x : tensor<?x8xf32>
  %ss = arith.mulf %s, %s : tensor<?x8xf32>
  return %ss : tensor<?x8xf32>
}

// -----

// Values used inside and outside become results; an operation on two sources
// stays outside and starts a new source.

// CHECK-LABEL: func @several_results(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>)
// CHECK:         %[[R:.*]]:2 = fad.elementwise ins(%[[X]] : tensor<4xf32>)
// CHECK:           %[[T:.*]] = math.tanh
// CHECK:           %[[E:.*]] = math.exp %[[T]]
// CHECK:           fad.yield %[[T]], %[[E]] : f32, f32
// CHECK:         %[[M:.*]] = arith.mulf %[[R]]#0, %[[W]] : tensor<4xf32>
// CHECK:         %[[N:.*]] = fad.elementwise ins(%[[M]] : tensor<4xf32>)
// CHECK:           arith.negf
// CHECK:         return %[[N]], %[[R]]#1
func.func @several_results(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = math.tanh %x : tensor<4xf32>
  %m = arith.mulf %t, %w : tensor<4xf32>
  %e = math.exp %t : tensor<4xf32>
  %n = arith.negf %m : tensor<4xf32>
  return %n, %e : tensor<4xf32>, tensor<4xf32>
}

// -----

// Constants, splats, fills and scalars count as constants.

// CHECK-LABEL: func @constants(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[S:.*]]: f32, %[[N:.*]]: index)
// CHECK-NOT:     linalg.fill
// CHECK:         fad.elementwise ins(%[[X]], %[[S]] : tensor<?xf32>, f32) -> tensor<?xf32> {
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32, %[[SCALAR:.*]]: f32):
// CHECK-DAG:       %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG:       %[[A:.*]] = arith.mulf %[[IN]], %[[SCALAR]]
// CHECK:           %[[B:.*]] = arith.addf %[[A]], %[[HALF]]
// CHECK:           fad.yield %[[B]]
func.func @constants(%x: tensor<?xf32>, %s: f32, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %half = arith.constant 0.5 : f32
  %h = tensor.splat %half[%n] : tensor<?xf32>
  %a = arith.mulf %x, %f : tensor<?xf32>
  %b = arith.addf %a, %h : tensor<?xf32>
  return %b : tensor<?xf32>
}

// -----

// A rank-0 constant that a generic broadcasts, and integer and boolean values.

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>
// CHECK-LABEL: func @mask(
// CHECK:         %[[R:.*]] = fad.elementwise ins(%{{.*}} : tensor<8xf32>) -> tensor<8xf32> {
// CHECK:           %[[C:.*]] = arith.cmpf ogt
// CHECK:           arith.select %[[C]]
// CHECK-NOT:     linalg.generic
func.func @mask(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %e = tensor.empty() : tensor<8xf32>
  %em = tensor.empty() : tensor<8xi1>
  %m = linalg.generic {indexing_maps = [#id, #scalar, #id], iterator_types = ["parallel"]}
      ins(%x, %zero : tensor<8xf32>, tensor<f32>) outs(%em : tensor<8xi1>) {
  ^bb0(%a: f32, %z: f32, %o: i1):
    %c = arith.cmpf ogt, %a, %z : f32
    linalg.yield %c : i1
  } -> tensor<8xi1>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%m, %x : tensor<8xi1>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %s = arith.select %c, %a, %z : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Broadcasts, transposes and reductions are not elementwise in their operand.

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func @not_elementwise(
// CHECK-NOT:     fad.elementwise
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT:     fad.elementwise
func.func @not_elementwise(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#t, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %2 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

// -----

// A scalar that depends on a tensor may have a tangent: not a constant.

// CHECK-LABEL: func @scalar_of_tensor(
// CHECK-NOT:     fad.elementwise
// CHECK:         arith.mulf %{{.*}} : tensor<4xf32>
func.func @scalar_of_tensor(%x: tensor<4xf32>, %t: tensor<f32>) -> tensor<4xf32> {
  %s = tensor.extract %t[] : tensor<f32>
  %splat = tensor.splat %s : tensor<4xf32>
  %m = arith.mulf %x, %splat : tensor<4xf32>
  return %m : tensor<4xf32>
}

// -----

// An operation without a derivative rule, and one on integers, stay outside.

// CHECK-LABEL: func @no_rule(
// CHECK-NOT:     fad.elementwise
// CHECK:         math.absi
// CHECK:         arith.bitcast
// CHECK:         return
func.func @no_rule(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %a = math.absi %i : tensor<4xi32>
  %b = arith.bitcast %x : tensor<4xf32> to tensor<4xi32>
  return %a, %b : tensor<4xi32>, tensor<4xi32>
}

// -----

// A single operation, rank 0, zero elements.

// CHECK-LABEL: func @small(
// CHECK:         fad.elementwise ins(%{{.*}} : tensor<f64>) -> tensor<f64>
// CHECK:         fad.elementwise ins(%{{.*}} : tensor<0x3xbf16>) -> tensor<0x3xbf16>
func.func @small(%x: tensor<f64>, %y: tensor<0x3xbf16>) -> (tensor<f64>, tensor<0x3xbf16>) {
  %a = math.exp %x : tensor<f64>
  %b = math.exp %y : tensor<0x3xbf16>
  return %a, %b : tensor<f64>, tensor<0x3xbf16>
}

// -----

// A scalar that is computed after the region begins cannot enter it.

// CHECK-LABEL: func @late_scalar(
// CHECK:         %[[A:.*]] = fad.elementwise ins(%[[X:.*]] : tensor<?xf32>)
// CHECK:           math.exp
// CHECK:         %[[LATE:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:         tensor.splat %[[LATE]]
// CHECK:         arith.mulf
func.func @late_scalar(%x: tensor<?xf32>, %s: f32, %n: index) -> tensor<?xf32> {
  %a = math.exp %x : tensor<?xf32>
  %late = arith.mulf %s, %s : f32
  %splat = tensor.splat %late[%n] : tensor<?xf32>
  %b = arith.mulf %a, %splat : tensor<?xf32>
  return %b : tensor<?xf32>
}

// -----

// A complex number is no scalar constant of a body.

// CHECK-LABEL: func @complex_constants(
// CHECK:         %[[C:.*]] = fad.elementwise
// CHECK:           arith.cmpf
// CHECK:         arith.select %[[C]], %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xcomplex<f32>>
func.func @complex_constants(%x: tensor<4xf32>) -> tensor<4xcomplex<f32>> {
  %a = arith.constant dense<(1.0, 2.0)> : tensor<4xcomplex<f32>>
  %b = arith.constant dense<(3.0, 4.0)> : tensor<4xcomplex<f32>>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = arith.cmpf olt, %x, %zero : tensor<4xf32>
  %s = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xcomplex<f32>>
  return %s : tensor<4xcomplex<f32>>
}

// -----

// A splat of a scalar that depends on a floating-point tensor, among others, is
// no constant.

// CHECK-LABEL: func @mixed_scalar(
// CHECK-NOT:     fad.elementwise
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @mixed_scalar(%x: tensor<4xf32>, %s: tensor<f32>, %n: tensor<i32>) -> tensor<4xf32> {
  %v = tensor.extract %s[] : tensor<f32>
  %i = tensor.extract %n[] : tensor<i32>
  %f = arith.sitofp %i : i32 to f32
  %p = arith.mulf %v, %f : f32
  %splat = tensor.splat %p : tensor<4xf32>
  %m = arith.mulf %x, %splat : tensor<4xf32>
  return %m : tensor<4xf32>
}

// -----

// Constants that differ are read element by element, wherever they are defined.

// CHECK-LABEL: func @dense(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2xf32>
// CHECK:         %[[W:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:         fad.elementwise ins(%[[X]], %[[W]] : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    ^{{.*}}(%[[A:.*]]: f32, %[[C:.*]]: f32):
// CHECK-NEXT:      %[[S:.*]] = math.sin %[[A]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[S]], %[[C]]
// CHECK-NEXT:      %[[Q:.*]] = arith.addf %[[P]], %[[C]]
// CHECK-NEXT:      fad.yield %[[Q]]
func.func @dense(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = math.sin %x : tensor<2xf32>
  %w = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = arith.mulf %0, %w : tensor<2xf32>
  %2 = arith.addf %1, %w : tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// Rounding takes no derivative tensor, and the rounded tensor is all that what
// follows needs: it is a source of its own.

// CHECK-LABEL: func @rounded(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
// CHECK:         %[[T:.*]] = fad.elementwise ins(%[[X]] : tensor<4xf32>) -> tensor<4xbf16>
// CHECK:           arith.truncf
// CHECK:         fad.elementwise ins(%[[T]] : tensor<4xbf16>) -> tensor<4xbf16>
// CHECK:           math.tanh
// CHECK:           math.exp
func.func @rounded(%x: tensor<4xf32>) -> tensor<4xbf16> {
  %t = arith.truncf %x : tensor<4xf32> to tensor<4xbf16>
  %y = math.tanh %t : tensor<4xbf16>
  %z = math.exp %y : tensor<4xbf16>
  return %z : tensor<4xbf16>
}

// -----

// Not where the source is read beside it: there would be two sources.

// CHECK-LABEL: func @rounded_too(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
// CHECK:         fad.elementwise ins(%[[X]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK:           arith.truncf
// CHECK:           math.tanh
// CHECK:           arith.extf
// CHECK:           arith.mulf
// CHECK-NOT:     fad.elementwise
func.func @rounded_too(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = arith.truncf %x : tensor<4xf32> to tensor<4xbf16>
  %y = math.tanh %t : tensor<4xbf16>
  %e = arith.extf %y : tensor<4xbf16> to tensor<4xf32>
  %z = arith.mulf %e, %x : tensor<4xf32>
  return %z : tensor<4xf32>
}
