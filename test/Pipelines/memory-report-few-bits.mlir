// RUN: fad-memory-report %s --entry=rows --policy=auto --recompute=nothing --derivative-bits=3 | FileCheck %s --check-prefix=ROWS
// RUN: fad-memory-report %s --entry=rows --policy=auto --recompute=nothing --derivative-bits=3 --size=7 | FileCheck %s --check-prefix=SEVEN
// RUN: fad-memory-report %s --entry=rows --policy=auto --recompute=nothing --derivative-bits=3 --format=json | FileCheck %s --check-prefix=JSON
// RUN: fad-memory-report %s --entry=rows --policy=auto --recompute=nothing --derivative-from-output --format=json | FileCheck %s --check-prefix=BRANCH
// RUN: fad-memory-report %s --entry=rows --policy=auto --recompute=nothing --format=json | FileCheck %s --check-prefix=EXACT
// RUN: fad-memory-report %s --entry=rows --policy=auto --derivative-bits=3 --memory-budget=10KB | FileCheck %s --check-prefix=BATCH

// Elements of few bits are packed: their bytes are known in terms of sizes, also
// where a row is no whole number of bytes, and so is what a batch takes.

// ROWS:       What crosses from forward to backward of @rows
// ROWS-NEXT:    d0: dimension 0 of argument 0
// ROWS:       {{^}}auto {{ *}}ceil(15*d0/8)  tensor<?xi8> {{.*}}, 3 bits an element, off by at most 0.104, mean square 0.00155;
// ROWS:       {{^}}auto {{ *}}ceil(15*d0/8) + 20*d0  total{{$}}

// 15 times 7 bits are 105, in 14 bytes.
// SEVEN:      {{^}}auto {{ *}}14  tensor<?xi8>
// SEVEN:      {{^}}auto {{ *}}154  total{{$}}

// BATCH:      {{^}}auto {{.*}} {{[1-9][0-9]*}}{{$}}

// What is not exact says how far off it is, as numbers.
// JSON:       "bytes": "ceil(15*d0/8)",
// JSON:       "bits": 3,
// JSON-NEXT:  "largest_error": 0.10{{[0-9]+}},
// JSON-NEXT:  "mean_square_error": 0.0015{{[0-9]+}},
// JSON-NEXT:  "refused"

// BRANCH:     "bytes": "ceil(5*d0/8)",
// BRANCH:     "bits": 1,
// BRANCH-NEXT: "largest_error": 0.0009{{[0-9]+}},
// BRANCH-NEXT: "mean_square_error": 8.{{[0-9]+}}e-08,

// EXACT-NOT:  _error

func.func @rows(%x: tensor<?x5xf32>, %v: tensor<5x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x5xf32>
  %empty = tensor.empty(%n) : tensor<?x5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x5xf32>) -> tensor<?x5xf32>
  %m = linalg.matmul ins(%x, %v : tensor<?x5xf32>, tensor<5x5xf32>)
      outs(%init : tensor<?x5xf32>) -> tensor<?x5xf32>
  %y = fad.gelu %m : tensor<?x5xf32>
  %z = linalg.matmul ins(%y, %w : tensor<?x5xf32>, tensor<5x5xf32>)
      outs(%init : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %z : tensor<?x5xf32>
}
