// RUN: fad-opt %s -fad-math-to-libm | FileCheck %s

// Nothing else in the file is of the math dialect, which the rounding needs.
// CHECK-LABEL: func.func @round(
// CHECK-SAME:    %[[X:[^:]*]]: f64
// CHECK-NOT:     arith.truncf %{{.*}} : f64 to bf16
// CHECK:         llvm.intr.fabs(%[[X]])
// CHECK-NOT:     arith.truncf %{{.*}} : f64 to bf16
// CHECK:         return %{{.*}} : bf16
func.func @round(%x: f64) -> bf16 {
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}

// A tie goes to the even neighbor. What is NaN stays so: the result of arithmetic
// by its upper half, another by the usual NaN.
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME:    %[[X:[^:]*]]: f32
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 2143289344 : i32
// CHECK-DAG:     %[[ALMOST:.*]] = arith.constant 32767 : i32
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK:         %[[HALF:.*]] = arith.shrui %[[BITS]], %{{.*}} : i32
// CHECK:         %[[ODD:.*]] = arith.andi %[[HALF]], %{{.*}} : i32
// CHECK:         %[[BIAS:.*]] = arith.addi %[[ODD]], %[[ALMOST]] : i32
// CHECK:         %[[SUM:.*]] = arith.addi %[[BITS]], %[[BIAS]] : i32
// CHECK:         %[[ORDERED:.*]] = arith.cmpf ord, %[[X]], %[[X]] : f32
// CHECK:         arith.select %[[ORDERED]], %[[SUM]], %[[NAN]] : i32
// CHECK:         arith.bitcast %{{.*}} : i16 to bf16
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[SQUARE]] : f32 to i32
// CHECK:         arith.select %{{.*}}, %{{.*}}, %[[BITS]] : i32
func.func @narrow(%x: f32) -> (bf16, bf16) {
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.mulf %x, %x : f32
  %2 = arith.truncf %1 : f32 to bf16
  return %0, %2 : bf16, bf16
}

// A tie that goes away from zero is the sum with a half.
// CHECK-LABEL: func.func @away(
// CHECK-SAME:    %[[X:[^:]*]]: f32
// CHECK:         %[[HALF:.*]] = arith.constant 32768 : i32
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[BITS]], %[[HALF]] : i32
// CHECK:         arith.select %{{.*}}, %[[SUM]], %{{.*}} : i32
func.func @away(%x: f32) -> bf16 {
  %0 = arith.truncf %x to_nearest_away : f32 to bf16
  return %0 : bf16
}

// Every other number is the upper or the lower half of a pair, and stays there.
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME:    %[[X:[^:]*]]: vector<16xbf16>
// CHECK:         %[[FIRSTS:.*]] = vector.bitcast %[[X]] : vector<16xbf16> to vector<8xi32>
// CHECK:         arith.shli %[[FIRSTS]], %{{.*}} : vector<8xi32>
// CHECK:         %[[SECONDS:.*]] = vector.bitcast %[[X]] : vector<16xbf16> to vector<8xi32>
// CHECK:         arith.andi %[[SECONDS]], %{{.*}} : vector<8xi32>
// CHECK-NOT:     vector.interleave
// CHECK:         %[[BOTH:.*]] = arith.ori %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK:         vector.bitcast %[[BOTH]] : vector<8xi32> to vector<16xbf16>
func.func @pairs(%x: vector<16xbf16>) -> vector<16xbf16> {
  %even, %odd = vector.deinterleave %x : vector<16xbf16> -> vector<8xbf16>
  %0 = arith.extf %even : vector<8xbf16> to vector<8xf32>
  %1 = arith.extf %odd : vector<8xbf16> to vector<8xf32>
  %low = arith.mulf %0, %0 : vector<8xf32>
  %high = arith.mulf %1, %1 : vector<8xf32>
  %2 = arith.truncf %low : vector<8xf32> to vector<8xbf16>
  %3 = arith.truncf %high : vector<8xf32> to vector<8xbf16>
  %4 = vector.interleave %2, %3 : vector<8xbf16> -> vector<16xbf16>
  return %4 : vector<16xbf16>
}

// A number that is rounded and extended again never has 16 bits.
// CHECK-LABEL: func.func @again(
// CHECK-NOT:     i16
// CHECK:         return
func.func @again(%x: f32) -> f32 {
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.extf %0 : bf16 to f32
  return %1 : f32
}
