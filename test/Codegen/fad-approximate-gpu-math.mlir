// RUN: fad-opt %s -pass-pipeline='builtin.module(gpu.module(fad-approximate-gpu-math))' | FileCheck %s
// RUN: fad-opt %s -pass-pipeline='builtin.module(gpu.module(fad-approximate-gpu-math{contract=false}))' | FileCheck %s --check-prefix=SEPARATE

gpu.module @kernels {
  // 2^n, made of the bits of a sum, times the estimate of the rest.

  // CHECK-LABEL: gpu.func @exp(
  // CHECK-SAME:    %[[X:[^:]*]]: f32
  // CHECK:         %[[ABOVE:.*]] = arith.maxnumf %[[X]], %{{.*}} : f32
  // CHECK:         %[[CLAMPED:.*]] = arith.minnumf %[[ABOVE]], %{{.*}} : f32
  // CHECK:         %[[SUM:.*]] = math.fma %[[CLAMPED]], %{{.*}}, %{{.*}} : f32
  // CHECK:         %[[REST:.*]] = math.fma %[[X]], %{{.*}}, %{{.*}} : f32
  // CHECK:         %[[MORE:.*]] = math.fma %[[X]], %{{.*}}, %[[REST]] : f32
  // CHECK:         %[[BITS:.*]] = arith.bitcast %[[SUM]] : f32 to i32
  // CHECK:         %[[POWER:.*]] = arith.shli %[[BITS]], %{{.*}} : i32
  // CHECK:         %[[SCALE:.*]] = arith.bitcast %[[POWER]] : i32 to f32
  // CHECK:         %[[ESTIMATE:.*]] = math.exp2 %[[MORE]] fastmath<arcp,afn> : f32
  // CHECK:         arith.mulf %[[ESTIMATE]], %[[SCALE]] : f32
  gpu.func @exp(%x: f32, %out: memref<f32>) kernel {
    %y = math.exp %x : f32
    memref.store %y, %out[] : memref<f32>
    gpu.return
  }

  // In 16 bits the estimate is enough, and a factor is a sum in the exponent.

  // CHECK-LABEL: gpu.func @narrow_exp(
  // CHECK:         %[[X:.*]] = arith.extf
  // CHECK-NEXT:    arith.constant 1.44269502 : f32
  // CHECK-NEXT:    arith.constant 1.000000e+00 : f32
  // CHECK-NEXT:    %[[EXPONENT:.*]] = math.fma %[[X]], %{{.*}}, %{{.*}} : f32
  // CHECK-NEXT:    %[[Y:.*]] = math.exp2 %[[EXPONENT]] fastmath<arcp,afn> : f32
  // CHECK-NEXT:    arith.truncf %[[Y]]
  gpu.func @narrow_exp(%x: bf16, %out: memref<bf16>) kernel {
    %two = arith.constant 2.0 : f32
    %w = arith.extf %x : bf16 to f32
    %e = math.exp %w : f32
    %d = arith.mulf %e, %two : f32
    %y = arith.truncf %d : f32 to bf16
    memref.store %y, %out[] : memref<bf16>
    gpu.return
  }

  // The divisor is from 1 to 2: a reciprocal, and a step of Newton's method.

  // CHECK-LABEL: gpu.func @quotient(
  // CHECK-SAME:    %[[X:[^:]*]]: f32
  // CHECK:         %[[NUMERATOR:.*]] = arith.minimumf
  // CHECK:         %[[DIVISOR:.*]] = arith.addf %[[NUMERATOR]], %{{.*}} : f32
  // CHECK:         %[[ESTIMATE:.*]] = arith.divf %{{.*}}, %[[DIVISOR]] fastmath<arcp,afn> : f32
  // CHECK:         %[[PRODUCT:.*]] = arith.mulf %[[NUMERATOR]], %[[ESTIMATE]] : f32
  // CHECK:         %[[NEGATIVE:.*]] = arith.negf %[[PRODUCT]] : f32
  // CHECK:         %[[REST:.*]] = math.fma %[[NEGATIVE]], %[[DIVISOR]], %[[NUMERATOR]] : f32
  // CHECK:         math.fma %[[REST]], %[[ESTIMATE]], %[[PRODUCT]] : f32
  gpu.func @quotient(%x: f32, %out: memref<f32>) kernel {
    %one = arith.constant 1.0 : f32
    %size = math.absf %x : f32
    %some = arith.minimumf %size, %one : f32
    %divisor = arith.addf %some, %one : f32
    %y = arith.divf %some, %divisor : f32
    memref.store %y, %out[] : memref<f32>
    gpu.return
  }

  // A divisor that may be anything is divided by, as is one of f64; functions of
  // f64 and of 16 bits stay.

  // CHECK-LABEL: gpu.func @others(
  // CHECK-SAME:    %[[X:[^:]*]]: f32, %[[W:[^:]*]]: f64, %[[H:[^:]*]]: f16
  // CHECK-NEXT:    %[[ONE:.*]] = arith.constant
  // CHECK-NEXT:    arith.divf %[[ONE]], %[[X]] : f32
  // CHECK-NEXT:    math.exp %[[W]] : f64
  // CHECK-NEXT:    math.tanh %[[H]] : f16
  // CHECK-NEXT:    math.log %[[X]] : f32
  gpu.func @others(%x: f32, %w: f64, %h: f16, %out: memref<2xf32>, %wide: memref<f64>,
                   %half: memref<f16>, %i: index) kernel {
    %one = arith.constant 1.0 : f32
    %y = arith.divf %one, %x : f32
    %e = math.exp %w : f64
    %t = math.tanh %h : f16
    %l = math.log %x : f32
    memref.store %y, %out[%i] : memref<2xf32>
    memref.store %l, %out[%i] : memref<2xf32>
    memref.store %e, %wide[] : memref<f64>
    memref.store %t, %half[] : memref<f16>
    gpu.return
  }

  // An infinite quotient would turn into NaN.

  // CHECK-LABEL: gpu.func @overflow(
  // CHECK:         arith.divf %{{.*}}, %{{.*}} : f32
  // CHECK-NOT:     fastmath
  // CHECK:         gpu.return
  gpu.func @overflow(%x: f32, %out: memref<f32>) kernel {
    %large = arith.constant 1.0e30 : f32
    %tiny = arith.constant 1.0e-30 : f32
    %size = math.absf %x : f32
    %some = arith.minimumf %size, %large : f32
    %divisor = arith.addf %some, %tiny : f32
    %y = arith.divf %some, %divisor : f32
    memref.store %y, %out[] : memref<f32>
    gpu.return
  }

  // What is compared has all its digits.

  // CHECK-LABEL: gpu.func @compared(
  // CHECK:         %[[E:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK:         arith.cmpf ogt, %[[E]], %{{.*}} : f32
  gpu.func @compared(%x: f32, %out: memref<bf16>) kernel {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %e = math.exp %x : f32
    %positive = arith.cmpf ogt, %e, %zero : f32
    %s = arith.select %positive, %one, %e : f32
    %y = arith.truncf %s : f32 to bf16
    memref.store %y, %out[] : memref<bf16>
    gpu.return
  }

  // A product and what is added to it are rounded once, but for two products, whose
  // difference has to be zero where they are equal.

  // CHECK-LABEL: gpu.func @fused(
  // CHECK-SAME:    %[[X:[^:]*]]: f32, %[[Y:[^:]*]]: f32
  // SEPARATE-LABEL: gpu.func @fused(
  // SEPARATE:       %[[PRODUCT:.*]] = arith.mulf %[[X:.*]], %{{.*}} : f32
  // SEPARATE-NEXT:   arith.addf %[[PRODUCT]], %[[X]] : f32
  // CHECK:         %[[FUSED:.*]] = math.fma %[[X]], %[[Y]], %[[X]] : f32
  // CHECK:         %[[XX:.*]] = arith.mulf %[[X]], %[[X]] : f32
  // CHECK:         %[[YY:.*]] = arith.mulf %[[Y]], %[[Y]] : f32
  // CHECK:         %[[APART:.*]] = arith.subf %[[XX]], %[[YY]] : f32
  // CHECK:         arith.truncf %[[FUSED]]
  // CHECK:         arith.truncf %[[APART]]
  gpu.func @fused(%x: f32, %y: f32, %out: memref<2xbf16>, %i: index) kernel {
    %xy = arith.mulf %x, %y : f32
    %fused = arith.addf %xy, %x : f32
    %xx = arith.mulf %x, %x : f32
    %yy = arith.mulf %y, %y : f32
    %apart = arith.subf %xx, %yy : f32
    %a = arith.truncf %fused : f32 to bf16
    %b = arith.truncf %apart : f32 to bf16
    memref.store %a, %out[%i] : memref<2xbf16>
    memref.store %b, %out[%i] : memref<2xbf16>
    gpu.return
  }
}
