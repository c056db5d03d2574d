// RUN: fad-memory-report %s --entry=block | FileCheck %s
// RUN: fad-memory-report %s --entry=block --size=128 | FileCheck %s --check-prefix=SIZE
// RUN: fad-memory-report %s --entry=block --size=128 --format=json -o %t.json
// RUN: %python -m json.tool %t.json | FileCheck %s --check-prefix=JSON
// RUN: fad-memory-report %s --entry=block --policy=recompute --format=json | FileCheck %s --check-prefix=ONE
// RUN: fad-memory-report %s --entry=exponential --policy=fad | FileCheck %s --check-prefix=RESULT
// RUN: fad-memory-report %s --entry=linear | FileCheck %s --check-prefix=NONE
// RUN: fad-memory-report %s --entry=flattened --policy=fad | FileCheck %s --check-prefix=PRODUCT

// One table of all policies, sizes stated by the arguments. The block's
// activation is one region of two operations: back-propagation keeps the value
// between them, the region's derivative takes its place.

// CHECK-LABEL: What crosses from forward to backward of @block
// CHECK-NEXT:    d0: dimension 0 of argument 0
// CHECK:       {{^}}policy {{ *}}bytes  type {{ *}}from {{ *}}for {{ *}}reason{{$}}
// CHECK:       {{^}}bp {{ *}}32*d0  tensor<?x8xf32> {{.*}}value on the tape{{$}}
// CHECK:       {{^}}bp {{ *}}0  tensor<?x8xf32> {{.*}}result: alive anyway{{$}}
// CHECK:       {{^}}bp {{ *}}32*d0  total{{$}}
// CHECK:       {{^}}recompute {{ *}}32*d0  tensor<?x8xf32> {{.*}}source of a region{{$}}
// CHECK:       {{^}}recompute {{ *}}32*d0  total{{$}}
// CHECK:       {{^}}fad {{ *}}32*d0  tensor<?x8xf32> {{.*}}derivative of a region; instead of 32*d0 bytes of linalg.matmul{{$}}
// CHECK:       {{^}}fad {{ *}}0  tensor<4x8xf32> {{ *}}linalg.matmul {{ *}}argument: alive anyway{{$}}
// CHECK:       {{^}}fad {{ *}}32*d0  total{{$}}

// SIZE-LABEL: What crosses from forward to backward of @block
// SIZE-NEXT:    d0 = 128: dimension 0 of argument 0
// SIZE:       {{^}}Backward is taken to overwrite and free what is kept, as with reuse-residuals.{{$}}
// SIZE:       {{^}}bp {{ *}}4096  total{{$}}
// SIZE:       {{^}}recompute {{ *}}4096  total{{$}}
// SIZE:       {{^}}fad {{ *}}4096  total{{$}}

// JSON:      "entry": "block",
// JSON-NEXT: "symbols": [
// JSON-NEXT:   {
// JSON-NEXT:     "name": "d0",
// JSON-NEXT:     "what": "dimension 0 of argument 0",
// JSON-NEXT:     "argument": 0,
// JSON-NEXT:     "dimension": 0
// JSON-NEXT:   }
// JSON-NEXT: ],
// JSON-NEXT: "policies": {
// JSON-NEXT:   "bp": {
// JSON-NEXT:     "total_bytes": 4096,
// JSON-NEXT:     "residuals": [
// JSON:        "fad": {
// JSON-NEXT:     "total_bytes": 4096,
// JSON-NEXT:     "residuals": [
// JSON-NEXT:       {
// JSON-NEXT:         "type": "tensor<?x8xf32>",
// JSON-NEXT:         "bytes": 4096,
// JSON-NEXT:         "for": "fad.elementwise",
// JSON-NEXT:         "reason": "derivative of a region",
// JSON-NEXT:         "because": "instead of 4096 bytes of linalg.matmul",
// JSON-NEXT:         "kind": "derivative",
// JSON-NEXT:         "from": "fad.elementwise",
// JSON-NEXT:         "location": "{{.*}}memory-report.mlir:{{[0-9]+}}:11",
// JSON-NEXT:         "refused": false,
// JSON-NEXT:         "instead_of": [
// JSON-NEXT:           {
// JSON-NEXT:             "type": "tensor<?x8xf32>",
// JSON-NEXT:             "bytes": 4096,
// JSON-NEXT:             "from": "linalg.matmul",
// JSON-NEXT:             "location": "{{.*}}memory-report.mlir:{{[0-9]+}}:8"
// JSON-NEXT:           }
// JSON-NEXT:         ],
// JSON-NEXT:         "activation": true,
// JSON-NEXT:         "layer": 1
// JSON-NEXT:       },

// A size that is not a number is a string.
// ONE-NOT: "bp"
// ONE:     "recompute": {
// ONE:       "total_bytes": "32*d0",
// ONE:       "bytes": "32*d0",

func.func @block(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %zerof = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %zero : tensor<?x4xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %init = linalg.fill ins(%zerof : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x8xf32>)
    outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %sine = math.sin %h : tensor<?x8xf32>
  %y = math.tanh %sine : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// The derivative of exp is its result, which the caller has anyway.

// RESULT-LABEL: What crosses from forward to backward of @exponential
// RESULT:       fad {{ *}}0  tensor<3xf64>  fad.elementwise  math.exp  result: alive anyway
// RESULT:       fad {{ *}}0  total

func.func @exponential(%x: tensor<3xf64>) -> tensor<3xf64> {
  %y = math.exp %x : tensor<3xf64>
  return %y : tensor<3xf64>
}

// Nothing is kept for a constant derivative.

// NONE-LABEL: What crosses from forward to backward of @linear
// NONE:       bp {{ *}}0  total
// NONE:       recompute {{ *}}0  total
// NONE:       fad {{ *}}0  total

func.func @linear(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = arith.negf %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// PRODUCT-LABEL: What crosses from forward to backward of @flattened
// PRODUCT-NEXT:    d0: dimension 0 of argument 0
// PRODUCT-NEXT:    d1: dimension 1 of argument 0
// PRODUCT:       fad {{ *}}4*d0*d1  tensor<?xf32>

func.func @flattened(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %sine = math.sin %flat : tensor<?xf32>
  %y = math.tanh %sine : tensor<?xf32>
  return %y : tensor<?xf32>
}
