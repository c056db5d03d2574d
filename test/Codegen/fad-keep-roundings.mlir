// RUN: fad-opt %s --fad-keep-roundings | FileCheck %s
// RUN: fad-opt %s --fad-keep-roundings --canonicalize | FileCheck %s --check-prefix=PAIR
// RUN: fad-opt %s --canonicalize | FileCheck %s --check-prefix=ALONE

// Flags of conversions go, those of arithmetic stay.
// CHECK-LABEL: func.func @square(
// CHECK-SAME:    %[[X:.*]]: bf16)
// CHECK:         %[[W:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK:         %[[P:.*]] = arith.mulf %[[W]], %[[W]] fastmath<nnan> : f32
// CHECK:         %[[R:.*]] = arith.truncf %[[P]] : f32 to bf16
// CHECK:         %[[V:.*]] = arith.extf %[[R]] : bf16 to f32
// CHECK:         return %[[V]] : f32

// The product is rounded, which the flags alone do not ensure.
// PAIR-LABEL:  func.func @square(
// PAIR:          %[[R:.*]] = arith.truncf
// PAIR:          %[[V:.*]] = arith.extf %[[R]]
// PAIR:          return %[[V]]
// ALONE-LABEL: func.func @square(
// ALONE-NOT:     arith.truncf
// ALONE:         return
func.func @square(%x: bf16) -> f32 {
  %w = arith.extf %x fastmath<contract> : bf16 to f32
  %p = arith.mulf %w, %w fastmath<nnan> : f32
  %r = arith.truncf %p fastmath<contract> : f32 to bf16
  %v = arith.extf %r fastmath<contract> : bf16 to f32
  return %v : f32
}

// A rounding mode and vectors stay as they are.
// CHECK-LABEL: func.func @vector(
// CHECK:         arith.truncf %{{.*}} to_nearest_even : vector<4xf32> to vector<4xbf16>
func.func @vector(%x: vector<4xf32>) -> vector<4xbf16> {
  %r = arith.truncf %x to_nearest_even fastmath<contract> : vector<4xf32> to vector<4xbf16>
  return %r : vector<4xbf16>
}
