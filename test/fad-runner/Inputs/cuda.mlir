#rc = affine_map<(d0, d1) -> (d0, d1)>
#c = affine_map<(d0, d1) -> (d1)>
#r = affine_map<(d0, d1) -> (d0)>
#image = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#channel = affine_map<(d0, d1, d2) -> (d1)>

func.func @gelu(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %y = fad.gelu %x : tensor<?xf32>
  %z = fad.mish %y : tensor<?xf32>
  return %y, %z : tensor<?xf32>, tensor<?xf32>
}

// Rows of 7 are no multiple of the lanes.
func.func @bias(%x: tensor<?x8xf32>, %b: tensor<8xf32>, %s: tensor<?xf32>, %t: tensor<?x7xf32>, %d: tensor<7xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x7xf32>) {
  %0 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<?x8xf32>, tensor<8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %sum = arith.addf %in, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x8xf32>
  %1 = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%0, %s : tensor<?x8xf32>, tensor<?xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %product = arith.mulf %in, %scale : f32
    linalg.yield %product : f32
  } -> tensor<?x8xf32>
  %2 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%t, %d : tensor<?x7xf32>, tensor<7xf32>) outs(%t : tensor<?x7xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %sum = arith.addf %in, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x7xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x7xf32>
}

// A constant that the device does not reach, and a slice with gaps.
func.func @places(%x: tensor<4x6x16xf32>, %t: tensor<8x12xf32>) -> (tensor<4x6x16xf32>, tensor<8x5xf32>) {
  %scales = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %0 = linalg.generic {indexing_maps = [#image, #channel, #image], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %scales : tensor<4x6x16xf32>, tensor<6xf32>) outs(%x : tensor<4x6x16xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %product = arith.mulf %in, %scale : f32
    linalg.yield %product : f32
  } -> tensor<4x6x16xf32>
  %slice = tensor.extract_slice %t[0, 3] [8, 5] [1, 1] : tensor<8x12xf32> to tensor<8x5xf32>
  %1 = math.absf %slice : tensor<8x5xf32>
  return %0, %1 : tensor<4x6x16xf32>, tensor<8x5xf32>
}

func.func @types(%x: tensor<?xf32>, %h: tensor<?xf64>, %k: tensor<?xi64>, %m: tensor<?xi1>, %r: tensor<f32>)
    -> (tensor<?xf32>, tensor<?xf64>, tensor<?xi64>, tensor<?xi1>, tensor<f32>) {
  %0 = arith.select %m, %x, %x : tensor<?xi1>, tensor<?xf32>
  %1 = arith.addf %h, %h : tensor<?xf64>
  %2 = arith.muli %k, %k : tensor<?xi64>
  %3 = arith.cmpi slt, %k, %2 : tensor<?xi64>
  %4 = math.exp %r : tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<?xf32>, tensor<?xf64>, tensor<?xi64>, tensor<?xi1>, tensor<f32>
}

func.func @sums(%x: tensor<?x300xf32>, %y: tensor<?x3x5xf64>) -> (tensor<300xf32>, tensor<5xf64>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<300xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<300xf32>) -> tensor<300xf32>
  %0 = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x300xf32>) outs(%init : tensor<300xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %sum = arith.addf %square, %out : f32
    linalg.yield %sum : f32
  } -> tensor<300xf32>
  %half = arith.constant dense<0.5> : tensor<5xf64>
  %1 = linalg.generic {indexing_maps = [#image, affine_map<(d0, d1, d2) -> (d2)>], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%y : tensor<?x3x5xf64>) outs(%half : tensor<5xf64>) {
  ^bb0(%in: f64, %out: f64):
    %small = arith.mulf %in, %in : f64
    %sum = arith.addf %out, %small : f64
    linalg.yield %sum : f64
  } -> tensor<5xf64>
  return %0, %1 : tensor<300xf32>, tensor<5xf64>
}

// Numbers of 2 bits are read where they are multiplied, at places of 2 dimensions.
func.func @few(%x: tensor<51xi8>, %g: tensor<29x7xf32>) -> tensor<29x7xf32> {
  // 3, 2, 1 and 2 where there was a 1.
  %bits = arith.constant dense<-101> : tensor<51xi8>
  %bytes = arith.muli %x, %bits : tensor<51xi8>
  %codes = fad.unpack %bytes bits 2 : tensor<51xi8> -> tensor<29x7xi8>
  %slopes = arith.uitofp %codes : tensor<29x7xi8> to tensor<29x7xf32>
  %r = arith.mulf %slopes, %g : tensor<29x7xf32>
  return %r : tensor<29x7xf32>
}

func.func @pack(%x: tensor<?xf32>, %y: tensor<43x11xf32>) -> (tensor<?xi8>, tensor<178xi8>) {
  %scale = arith.constant dense<3.0> : tensor<43x11xf32>
  %0 = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xi8> {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %a, %zero : f32
    %code = arith.extui %positive : i1 to i8
    fad.yield %code : i8
  }
  %bits = fad.pack %0 bits 1 : tensor<?xi8> -> tensor<?xi8>
  %scaled = arith.mulf %y, %scale : tensor<43x11xf32>
  %codes = arith.fptosi %scaled : tensor<43x11xf32> to tensor<43x11xi8>
  %few = fad.pack %codes bits 3 : tensor<43x11xi8> -> tensor<178xi8>
  return %bits, %few : tensor<?xi8>, tensor<178xi8>
}

// Infinite quotients, and sums that overflow before they are divided by.
func.func @limits(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0:2 = fad.elementwise ins(%x, %y : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>, tensor<?xf32> {
  ^bb0(%a: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %large = arith.constant 1.0e30 : f32
    %least = arith.constant -1.0e30 : f32
    %tiny = arith.constant 1.0e-30 : f32
    %huge = arith.mulf %a, %large : f32
    %below = arith.minimumf %huge, %large : f32
    %clamped = arith.maximumf %below, %least : f32
    %size = arith.constant 0.0 : f32
    %divisor = arith.addf %size, %tiny : f32
    %quotient = arith.divf %clamped, %divisor : f32
    // exp(100) is infinite: the selection is for its product with zero.
    %hundred = arith.constant 100.0 : f32
    %bottom = arith.minimumf %b, %zero : f32
    %far = arith.subf %bottom, %hundred : f32
    %away = arith.negf %far : f32
    %infinite = math.exp %away : f32
    %bound = arith.constant -99.0 : f32
    %is_far = arith.cmpf olt, %far, %bound : f32
    %product = arith.mulf %infinite, %zero : f32
    %chosen = arith.select %is_far, %zero, %product : f32
    fad.yield %quotient, %chosen : f32, f32
  }
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}

// A constant that a callee reads is copied as well: the device does not reach it.
func.func private @scale(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %x, %s : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = call @scale(%x, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Columns of which the number is known at run time: the rows have gaps.
func.func @columns(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %half = arith.shrui %n, %c1 : index
  %0 = arith.mulf %x, %y : tensor<?x?xf32>
  %1 = tensor.extract_slice %0[0, 0] [%m, %half] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %2 = math.sin %1 : tensor<?x?xf32>
  return %1, %2 : tensor<?x?xf32>, tensor<?x?xf32>
}
