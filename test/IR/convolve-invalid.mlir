// RUN: fad-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<2x4x9xf32>, %w: memref<6x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects tensors only, or buffers only}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, memref<6x4x3xf32>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{on tensors expects a result}}
  fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, tensor<6x4x3xf32>, tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: memref<2x4x9xf32>, %w: memref<6x4x3xf32>, %y: memref<2x6x7xf32>) {
  // expected-error@+1 {{on buffers expects no result}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : memref<2x4x9xf32>, memref<6x4x3xf32>, memref<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects a result of the type of 'init', 'tensor<2x6x7xf32>', but got 'tensor<?x6x7xf32>'}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, tensor<6x4x3xf32>, tensor<2x6x7xf32> -> tensor<?x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3xbf16>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects factors with elements of one type, but got 'f32' and 'bf16'}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, tensor<6x4x3xbf16>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x6x7xf64>) {
  // expected-error@+1 {{expects a result of 'f32', but got 'f64'}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, tensor<6x4x3xf32>, tensor<2x6x7xf64> -> tensor<2x6x7xf64>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf64>, %w: tensor<6x4x3xf64>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects a result of 'f64', but got 'f32'}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf64>, tensor<6x4x3xf64>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xbf16>, %w: tensor<6x4x3xbf16>, %y: tensor<2x6x7xf64>) {
  // expected-error@+1 {{expects a result of 'bf16' or 'f32', but got 'f64'}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xbf16>, tensor<6x4x3xbf16>, tensor<2x6x7xf64> -> tensor<2x6x7xf64>
  return
}

// -----

func.func @f(%x: tensor<2x2x2x2x2x2x4x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x2x2x2x2x2x6x7xf32>) {
  // expected-error@+1 {{expects operands of at most 7 dimensions, but operand 0 is 'tensor<2x2x2x2x2x2x4x9xf32>'}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(a,b,d,e,f,n,o,u,c,i) -> (a,b,d,e,f,n,c,u+i)>, affine_map<(a,b,d,e,f,n,o,u,c,i) -> (o,c,i)>, affine_map<(a,b,d,e,f,n,o,u,c,i) -> (a,b,d,e,f,n,o,u)>] : tensor<2x2x2x2x2x2x4x9xf32>, tensor<6x4x3xf32>, tensor<2x2x2x2x2x2x6x7xf32> -> tensor<2x2x2x2x2x2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects three maps of at most 14 loops}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>] : tensor<2x4x9xf32>, tensor<6x4x3xf32>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects maps from the same loops to indices of each operand, but map 1 is affine_map<(d0, d1, d2, d3, d4) -> (d1, d4)> for 'tensor<6x4x3xf32>'}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, tensor<6x4x3xf32>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects indices that are a loop, or the sum of two loops, each times 1 to 4095, and of a number of 32 bits, but map 0 is affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 - d4)>}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u-i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, tensor<6x4x3xf32>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects indices that are a loop, or the sum of two loops, each times 1 to 4095, and of a number of 32 bits, but map 0 is affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 * 4096 + d4)>}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u*4096+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, tensor<6x4x3xf32>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x9x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects each loop in one window at most, but d2 is in two}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,u+c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x9x9xf32>, tensor<6x4x3xf32>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<4x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects each loop once in an operand, but d3 stands twice in map 1}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (c,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, tensor<4x4x3xf32>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x5x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects one extent for each loop, but d3 has 4 and 5}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x9xf32>, tensor<6x5x3xf32>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x7xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x6x7xf32>) {
  // expected-error@+1 {{expects 1 to 3 windows, but got 0}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,o,u)>] : tensor<2x4x7xf32>, tensor<6x4x3xf32>, tensor<2x6x7xf32> -> tensor<2x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3x9xf32>, %y: tensor<2x6x7x7xf32>) {
  // expected-error@+1 {{expects windows in one operand only}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i,j,k) -> (n,c,u+i)>, affine_map<(n,o,u,c,i,j,k) -> (o,c,i,j+k)>, affine_map<(n,o,u,c,i,j,k) -> (n,o,u,j)>] : tensor<2x4x9xf32>, tensor<6x4x3x9xf32>, tensor<2x6x7x7xf32> -> tensor<2x6x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4x3xf32>, %y: tensor<2x7xf32>) {
  // expected-error@+1 {{expects each loop alone in two or three operands, or in the window and in one other operand, but d1 is not}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c,i)>, affine_map<(n,o,u,c,i) -> (n,u)>] : tensor<2x4x9xf32>, tensor<6x4x3xf32>, tensor<2x7xf32> -> tensor<2x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x9xf32>, %w: tensor<6x4xf32>, %y: tensor<2x6x7x3xf32>) {
  // expected-error@+1 {{expects one loop of each window in each of the two other operands, but d2 and d4 are in one}}
  %0 = fad.convolve %x, %w into %y by [affine_map<(n,o,u,c,i) -> (n,c,u+i)>, affine_map<(n,o,u,c,i) -> (o,c)>, affine_map<(n,o,u,c,i) -> (n,o,u,i)>] : tensor<2x4x9xf32>, tensor<6x4xf32>, tensor<2x6x7x3xf32> -> tensor<2x6x7x3xf32>
  return
}
