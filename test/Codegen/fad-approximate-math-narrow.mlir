// RUN: fad-opt %s -fad-approximate-math | FileCheck %s
// RUN: fad-opt %s -fad-approximate-math=ties-away=false | FileCheck %s --check-prefix=EVEN --implicit-check-not=to_nearest_away
// EVEN: arith.truncf %{{.*}} : f32 to bf16
// Executed, for all numbers of 16 bits, in test/python/accuracy.test.

// The exponent is not above zero: 2^n is one factor. The divisor is from 1 to 2: a
// number made of its bits is the first guess of its reciprocal.
// CHECK-LABEL: func.func @sigmoid(
// CHECK-NOT:     arith.shrsi
// CHECK:         %[[POWER:.*]] = arith.shli
// CHECK:         %[[SCALE:.*]] = arith.bitcast %[[POWER]] : vector<8xi32> to vector<8xf32>
// CHECK-COUNT-5: math.fma
// CHECK:         %[[E:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK:         %[[SUM:.*]] = arith.addf %[[E]], %{{.*}}
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[SUM]] : vector<8xf32> to vector<8xi32>
// CHECK:         %[[GUESS:.*]] = arith.subi %{{.*}}, %[[BITS]]
// CHECK-COUNT-4: math.fma
// CHECK-NOT:     arith.divf
// CHECK:         return
func.func @sigmoid(%x: vector<8xf16>) -> vector<8xf16> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %0 = arith.extf %x : vector<8xf16> to vector<8xf32>
  %1 = math.absf %0 : vector<8xf32>
  %2 = arith.negf %1 : vector<8xf32>
  %3 = math.exp %2 : vector<8xf32>
  %4 = arith.addf %3, %one : vector<8xf32>
  %5 = arith.divf %one, %4 : vector<8xf32>
  %6 = arith.truncf %5 : vector<8xf32> to vector<8xf16>
  return %6 : vector<8xf16>
}

// A quotient of which a square is the divisor has the reciprocal of its root. A tie
// of what no function is part of goes to the even number.
// CHECK-LABEL: func.func @square(
// CHECK:         %[[M:.*]] = arith.addf
// CHECK:         arith.bitcast %[[M]] : f32 to i32
// CHECK-COUNT-3: math.fma
// CHECK:         %[[RECIPROCAL:.*]] = math.fma
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[RECIPROCAL]], %[[RECIPROCAL]]
// CHECK:         %[[QUOTIENT:.*]] = arith.mulf %{{.*}}, %[[SQUARE]]
// CHECK:         arith.truncf %[[QUOTIENT]] : f32 to bf16
func.func @square(%x: bf16, %y: bf16) -> bf16 {
  %one = arith.constant 1.0 : f32
  %20 = arith.constant 20.0 : f32
  %0 = arith.extf %x : bf16 to f32
  %1 = arith.extf %y : bf16 to f32
  %2 = math.absf %0 : f32
  %size = arith.minimumf %2, %20 : f32
  %3 = arith.addf %size, %one : f32
  %4 = arith.mulf %3, %3 : f32
  %5 = arith.divf %1, %4 : f32
  %6 = arith.truncf %5 : f32 to bf16
  return %6 : bf16
}

// erfc of what is not negative is one polynomial times an exponential.
// CHECK-LABEL: func.func @erfc(
// CHECK-NOT:     arith.cmpf olt
// CHECK-NOT:     arith.divf
// CHECK:         return
func.func @erfc(%x: bf16) -> bf16 {
  %20 = arith.constant 20.0 : f32
  %0 = arith.extf %x : bf16 to f32
  %1 = math.absf %0 : f32
  %size = arith.minimumf %1, %20 : f32
  %2 = math.erfc %size : f32
  %3 = arith.truncf %2 : f32 to bf16
  return %3 : bf16
}

// For bf16 an exponential is a polynomial of degree four, of what one multiple of
// ln 2 leaves.
// CHECK-LABEL: func.func @exp(
// CHECK:         %[[SHIFTED:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:         %[[N:.*]] = arith.subf %[[SHIFTED]],
// CHECK:         %[[R:.*]] = math.fma %[[N]],
// CHECK:         math.fma %{{.*}}, %[[R]], %{{.*}} : f32
// CHECK-COUNT-3: math.fma %{{.*}}, %[[R]], %{{.*}} : f32
// CHECK-NOT:     math.fma
// CHECK:         return
func.func @exp(%x: bf16) -> bf16 {
  %0 = arith.extf %x : bf16 to f32
  %1 = math.exp %0 : f32
  %2 = arith.truncf %1 : f32 to bf16
  return %2 : bf16
}

// What is kept in f32 is divided, and so is what may be divided by zero.
// CHECK-LABEL: func.func @kept(
// CHECK:         %[[KEPT:.*]] = arith.divf
// CHECK:         %[[FREE:.*]] = arith.divf
// CHECK:         return %[[KEPT]]
func.func @kept(%x: f32) -> (f32, bf16, bf16) {
  %one = arith.constant 1.0 : f32
  %0 = math.absf %x : f32
  %two = arith.constant 2.0 : f32
  %1 = arith.minimumf %0, %two : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.divf %one, %2 : f32
  %4 = arith.truncf %3 : f32 to bf16
  %5 = arith.divf %one, %x : f32
  %6 = arith.truncf %5 : f32 to bf16
  return %3, %4, %6 : f32, bf16, bf16
}

// A maximum with zero has the zero with the greater sign.
// CHECK-LABEL: func.func @bounds(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK:         %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %[[BOUND:.*]] : f32
// CHECK:         arith.select %[[ABOVE]], %[[BOUND]], %[[X]] : f32
// CHECK:         %[[BELOW:.*]] = arith.cmpf olt, %[[X]], %[[BOUND]] : f32
// CHECK:         arith.select %[[BELOW]], %[[BOUND]], %[[X]] : f32
// CHECK:         arith.maximumf %[[X]],
func.func @bounds(%x: f32) -> (f32, f32, f32) {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %0 = arith.minimumf %x, %three : f32
  %1 = arith.maximumf %x, %three : f32
  %2 = arith.maximumf %x, %zero : f32
  return %0, %1, %2 : f32, f32, f32
}

// Constants take the place of a multiplication, the bound of one with a negative
// number is an upper one, and ties of the result may go away from zero.
// CHECK-LABEL: func.func @exp_of_multiple(
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X:.*]], %[[X]] : f32
// CHECK:         %[[BOUND:.*]] = arith.constant 2.080000e+02 : f32
// CHECK:         %[[ABOVE:.*]] = arith.cmpf ogt, %[[SQUARE]], %[[BOUND]] : f32
// CHECK:         %[[SMALL:.*]] = arith.select %[[ABOVE]], %{{.*}}, %[[SQUARE]] : f32
// CHECK:         %[[LOG2E:.*]] = arith.constant -0.72134751 : f32
// CHECK:         math.fma %[[SMALL]], %[[LOG2E]], %{{.*}} : f32
// CHECK:         %[[LN2:.*]] = arith.constant 1.38629436 : f32
// CHECK:         math.fma %{{.*}}, %[[LN2]], %[[SMALL]] : f32
// CHECK:         arith.truncf %{{.*}} to_nearest_away : f32 to bf16
func.func @exp_of_multiple(%x: bf16) -> bf16 {
  %half = arith.constant -0.5 : f32
  %0 = arith.extf %x : bf16 to f32
  %1 = arith.mulf %0, %0 : f32
  %2 = arith.mulf %half, %1 : f32
  %3 = math.exp %2 : f32
  %4 = arith.truncf %3 : f32 to bf16
  return %4 : bf16
}

// A factor that is large stays, as constants would not be normal numbers, and so does
// one that is no power of two, as they would lose digits.
// CHECK-LABEL: func.func @exp_of_other_multiples(
// CHECK:         %[[LARGE:.*]] = arith.constant -1.0
// CHECK:         %[[ODD:.*]] = arith.constant -1.702
// CHECK:         %[[SIZE:.*]] = math.absf
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %[[SIZE]], %[[LARGE]] : f32
// CHECK:         arith.cmpf olt, %[[PRODUCT]], %{{.*}} : f32
// CHECK:         %[[PRODUCT2:.*]] = arith.mulf %[[SIZE]], %[[ODD]] : f32
// CHECK:         arith.cmpf olt, %[[PRODUCT2]], %{{.*}} : f32
func.func @exp_of_other_multiples(%x: bf16) -> (bf16, bf16) {
  %large = arith.constant -1.0e30 : f32
  %odd = arith.constant -1.702 : f32
  %0 = arith.extf %x : bf16 to f32
  %1 = math.absf %0 : f32
  %2 = arith.mulf %1, %large : f32
  %3 = math.exp %2 : f32
  %4 = arith.truncf %3 : f32 to bf16
  %5 = arith.mulf %1, %odd : f32
  %6 = math.exp %5 : f32
  %7 = arith.truncf %6 : f32 to bf16
  return %4, %7 : bf16, bf16
}

// log1p of what is from 0 to 1 is a polynomial, of degree 7 for bf16 and 9 for f16.
// CHECK-LABEL: func.func @log1p(
// CHECK-NOT:     arith.sitofp
// CHECK:         %[[E:.*]] = arith.mulf
// CHECK:         math.fma %{{.*}}, %[[E]], %{{.*}} : f32
// CHECK-COUNT-5: math.fma %{{.*}}, %[[E]], %{{.*}} : f32
// CHECK-NOT:     math.fma
// CHECK:         arith.truncf %{{.*}} to_nearest_away : f32 to bf16
// CHECK-LABEL: func.func @log1p_f16(
// CHECK-NOT:     arith.sitofp
// CHECK:         %[[E:.*]] = arith.mulf
// CHECK:         math.fma %{{.*}}, %[[E]], %{{.*}} : f32
// CHECK-COUNT-7: math.fma %{{.*}}, %[[E]], %{{.*}} : f32
// CHECK-NOT:     math.fma
// CHECK:         arith.truncf %{{[^ ]*}} : f32 to f16
func.func @log1p(%x: bf16) -> bf16 {
  %0 = arith.extf %x : bf16 to f32
  %1 = math.absf %0 : f32
  %2 = arith.negf %1 : f32
  %3 = math.exp %2 : f32
  %4 = math.log1p %3 : f32
  %5 = arith.truncf %4 : f32 to bf16
  return %5 : bf16
}

func.func @log1p_f16(%x: f16) -> f16 {
  %0 = arith.extf %x : f16 to f32
  %1 = math.absf %0 : f32
  %2 = arith.negf %1 : f32
  %3 = math.exp %2 : f32
  %4 = math.log1p %3 : f32
  %5 = arith.truncf %4 : f32 to f16
  return %5 : f16
}

// tanh is a quotient of expm1, for all numbers.
// CHECK-LABEL: func.func @tanh(
// CHECK:         %[[POWER:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK:         %[[LESS:.*]] = arith.subf %[[POWER]], %{{.*}} : f32
// CHECK:         %[[M:.*]] = math.fma %[[POWER]], %{{.*}}, %[[LESS]] : f32
// CHECK:         arith.addf %{{.*}}, %[[M]] : f32
// CHECK:         %[[SIZE:.*]] = arith.mulf %[[M]], %{{.*}} : f32
// CHECK:         math.copysign %[[SIZE]], %{{.*}} : f32
// CHECK-NOT:     arith.select
// CHECK:         return
func.func @tanh(%x: f16) -> f16 {
  %0 = arith.extf %x : f16 to f32
  %1 = math.tanh %0 : f32
  %2 = arith.truncf %1 : f32 to f16
  return %2 : f16
}

// What no function is part of is rounded as it was: products, quotients, and bounds;
// and selections of such.
// CHECK-LABEL: func.func @exact(
// CHECK-NOT:     to_nearest_away
// CHECK:         return
func.func @exact(%x: bf16, %y: bf16) -> (bf16, bf16, bf16, bf16, bf16) {
  %three = arith.constant 3.0 : f32
  %0 = arith.extf %x : bf16 to f32
  %1 = arith.extf %y : bf16 to f32
  %2 = arith.mulf %0, %1 : f32
  %3 = arith.divf %0, %1 : f32
  %4 = arith.divf %0, %three : f32
  %5 = arith.minimumf %2, %three : f32
  %6 = math.tanh %0 : f32
  %7 = arith.cmpf ogt, %0, %three : f32
  %8 = arith.select %7, %2, %6 : f32
  %9 = arith.truncf %2 : f32 to bf16
  %10 = arith.truncf %3 : f32 to bf16
  %11 = arith.truncf %4 : f32 to bf16
  %12 = arith.truncf %5 : f32 to bf16
  %13 = arith.truncf %8 : f32 to bf16
  return %9, %10, %11, %12, %13 : bf16, bf16, bf16, bf16, bf16
}

// A selection may have numbers of bf16 besides, which have no ties; a constant that
// has more digits may be one.
// CHECK-LABEL: func.func @selections(
// CHECK-SAME:    %[[X:.*]]: bf16)
// CHECK:         %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK:         arith.truncf %{{.*}} to_nearest_away : f32 to bf16
// CHECK:         arith.truncf %{{[^ ]*}} : f32 to bf16
// CHECK:         return
func.func @selections(%x: bf16) -> (bf16, bf16) {
  %three = arith.constant 3.0 : f32
  %tie = arith.constant 1.00390625 : f32
  %0 = arith.extf %x : bf16 to f32
  %1 = math.tanh %0 : f32
  %2 = arith.mulf %1, %0 : f32
  %3 = arith.minimumf %2, %three : f32
  %4 = arith.cmpf ogt, %0, %three : f32
  %5 = arith.select %4, %0, %3 : f32
  %6 = arith.select %4, %tie, %3 : f32
  %7 = arith.truncf %5 : f32 to bf16
  %8 = arith.truncf %6 : f32 to bf16
  return %7, %8 : bf16, bf16
}

// The program has the last word.
// CHECK-LABEL: func.func @asked_for(
// CHECK:         arith.truncf %{{.*}} to_nearest_even : f32 to bf16
// CHECK:         arith.truncf %{{.*}} downward : f32 to bf16
func.func @asked_for(%x: bf16) -> (bf16, bf16) {
  %0 = arith.extf %x : bf16 to f32
  %1 = math.exp %0 : f32
  %2 = arith.truncf %1 to_nearest_even : f32 to bf16
  %3 = arith.truncf %1 downward : f32 to bf16
  return %2, %3 : bf16, bf16
}
