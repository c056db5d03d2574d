// RUN: fad-opt %s -test-fad-demanded-precision -verify-diagnostics

// The derivative of SiLU passes through zero: what is added there keeps the digits
// of f32.
func.func @silu(%x: bf16) -> (bf16, bf16) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  // It is compared.
  // expected-remark @+1 {{[-inf, inf], full}}
  %wide = arith.extf %x : bf16 to f32
  // expected-remark @+1 {{[0, inf], ends in bf16}}
  %size = math.absf %wide : f32
  // expected-remark @+1 {{[-inf, 0], ends in bf16}}
  %minus = arith.negf %size : f32
  // expected-remark @+1 {{[0, 1], ends in bf16}}
  %e = math.exp %minus : f32
  %negative = arith.cmpf olt, %wide, %zero : f32
  // expected-remark @+1 {{[0, 1], ends in bf16}}
  %numerator = arith.select %negative, %e, %one : f32
  // expected-remark @+1 {{[1, 2], ends in bf16}}
  %sum = arith.addf %e, %one : f32
  // expected-remark @+1 {{[0, 1], ends in bf16}}
  %s = arith.divf %numerator, %sum : f32
  // expected-remark @+1 {{[-inf, inf], narrow}}
  %y = arith.mulf %wide, %s : f32
  %rounded = arith.truncf %y : f32 to bf16
  // expected-remark @+1 {{[-2.86e-06, 1], ends in bf16}}
  %complement = arith.subf %one, %s : f32
  // expected-remark @+1 {{[-inf, inf], ends in bf16}}
  %product = arith.mulf %wide, %complement : f32
  // expected-remark @+1 {{[-inf, inf], narrow}}
  %slope = arith.addf %product, %one : f32
  %d = arith.truncf %slope : f32 to bf16
  return %rounded, %d : bf16, bf16
}

// What is multiplied and divided passes relative errors on, as do sums of one sign,
// such as those of what one condition selects.
func.func @mish(%x: vector<8xbf16>) -> vector<8xbf16> {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %one = arith.constant dense<1.0> : vector<8xf32>
  %two = arith.constant dense<2.0> : vector<8xf32>
  // expected-remark @+1 {{[-inf, inf], full}}
  %wide = arith.extf %x : vector<8xbf16> to vector<8xf32>
  // expected-remark @+1 {{[0, inf], ends in bf16}}
  %size = math.absf %wide : vector<8xf32>
  // expected-remark @+1 {{[-inf, 0], ends in bf16}}
  %minus = arith.negf %size : vector<8xf32>
  // expected-remark @+1 {{[0, 1], narrow}}
  %e = math.exp %minus : vector<8xf32>
  %negative = arith.cmpf olt, %wide, %zero : vector<8xf32>
  // expected-remark @+1 {{[1, 3], narrow}}
  %fma = math.fma %e, %two, %one : vector<8xf32>
  // expected-remark @+1 {{[0, 3], narrow}}
  %n = arith.select %negative, %e, %fma : vector<8xi1>, vector<8xf32>
  // expected-remark @+1 {{[0, 2], narrow}}
  %rest = arith.select %negative, %two, %e : vector<8xi1>, vector<8xf32>
  // expected-remark @+1 {{[1, 4], narrow}}
  %m = arith.addf %n, %rest : vector<8xf32>
  // expected-remark @+1 {{[0, 3], narrow}}
  %quotient = arith.divf %n, %m : vector<8xf32>
  // expected-remark @+1 {{[-inf, inf], narrow}}
  %y = arith.mulf %wide, %quotient : vector<8xf32>
  %rounded = arith.truncf %y : vector<8xf32> to vector<8xbf16>
  return %rounded : vector<8xbf16>
}

// Four factors of factors have a share of the error, five have not.
func.func @powers(%x: f16) -> f16 {
  // expected-remark @+1 {{[-inf, inf], ends narrow}}
  %0 = arith.extf %x : f16 to f32
  // expected-remark @+1 {{[-1, 1], ends narrow}}
  %1 = math.tanh %0 : f32
  // expected-remark @+1 {{[0, 1], narrow}}
  %2 = arith.mulf %1, %1 : f32
  // expected-remark @+1 {{[0, 1], narrow}}
  %3 = arith.mulf %2, %2 : f32
  // expected-remark @+1 {{[0, 1], narrow}}
  %4 = arith.mulf %3, %3 : f32
  // expected-remark @+1 {{[0, 1], narrow}}
  %5 = arith.mulf %4, %4 : f32
  // expected-remark @+1 {{[0, 1], narrow}}
  %6 = arith.mulf %5, %5 : f32
  %7 = arith.truncf %6 : f32 to f16
  return %7 : f16
}

// What is kept in f32, or decides, is no such number.
func.func @kept(%x: f16, %y: f32, %to: memref<f32>) -> (f16, f32, f64, i1) {
  // expected-remark @+1 {{[-inf, inf], full}}
  %0 = math.tan %y : f32
  %1 = arith.truncf %0 : f32 to f16
  memref.store %0, %to[] : memref<f32>
  // expected-remark @+1 {{[0, inf], full}}
  %2 = math.exp %y : f32
  %3 = arith.truncf %2 : f32 to f16
  %4 = arith.addf %1, %3 : f16
  %5 = arith.extf %2 : f32 to f64
  // expected-remark @+1 {{[-1, 1], full}}
  %6 = math.erf %y : f32
  %7 = arith.cmpf olt, %6, %y : f32
  // expected-remark @+1 {{[0, 2], full}}
  %8 = math.erfc %y : f32
  return %4, %8, %5, %7 : f16, f32, f64, i1
}
