// RUN: fad-opt %s -pass-pipeline='builtin.module(gpu.module(fad-math-to-ptx))' | FileCheck %s

// CHECK-LABEL: gpu.module @kernels
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @floats(
  // CHECK-SAME:    %[[X:[^:]*]]: f32, %[[Y:[^:]*]]: f32
  gpu.func @floats(%x: f32, %y: f32, %out: memref<14xf32>) kernel {
    // CHECK-NEXT: llvm.call_intrinsic "llvm.fabs.f32"(%[[X]]) : (f32) -> f32
    %abs = math.absf %x : f32
    // CHECK-NEXT: llvm.call_intrinsic "llvm.ceil.f32"(%[[X]]) : (f32) -> f32
    %ceil = math.ceil %x : f32
    // CHECK-NEXT: llvm.call_intrinsic "llvm.floor.f32"(%[[X]]) {fastmathFlags = #llvm.fastmath<nnan>} : (f32) -> f32
    %floor = math.floor %x fastmath<nnan> : f32
    // CHECK-NEXT: llvm.call_intrinsic "llvm.round.f32"(%[[X]]) : (f32) -> f32
    %round = math.round %x : f32
    // CHECK-NEXT: llvm.call_intrinsic "llvm.roundeven.f32"(%[[X]]) : (f32) -> f32
    %even = math.roundeven %x : f32
    // CHECK-NEXT: llvm.intr.trunc(%[[X]]) : (f32) -> f32
    %trunc = math.trunc %x : f32
    // CHECK-NEXT: llvm.call_intrinsic "llvm.sqrt.f32"(%[[X]]) : (f32) -> f32
    %sqrt = math.sqrt %x : f32
    // CHECK-NEXT: llvm.call_intrinsic "llvm.copysign.f32"(%[[X]], %[[Y]]) : (f32, f32) -> f32
    %sign = math.copysign %x, %y : f32
    // CHECK-NEXT: llvm.intr.fma(%[[X]], %[[Y]], %[[X]]) : (f32, f32, f32) -> f32
    %fma = math.fma %x, %y, %x : f32
    // CHECK-NEXT: llvm.intr.maxnum(%[[X]], %[[Y]]) : (f32, f32) -> f32
    %max = arith.maxnumf %x, %y : f32
    // CHECK-NEXT: llvm.intr.minnum(%[[X]], %[[Y]]) : (f32, f32) -> f32
    %min = arith.minnumf %x, %y : f32
    // CHECK-NEXT: %[[LOW:.*]] = arith.minimumf %[[X]], %[[Y]] : f32
    // CHECK-NEXT: arith.maximumf %[[LOW]], %[[X]] : f32
    %clamp = math.clampf %x to [%y, %x] : f32
    // CHECK-NEXT: "llvm.intr.is.fpclass"(%[[X]])
    %nan = math.isnan %x : f32
    // CHECK-NEXT: "llvm.intr.is.fpclass"(%[[X]])
    %finite = math.isfinite %x : f32
    // libdevice has what PTX has not.
    // CHECK-NEXT: math.exp %[[X]] : f32
    %exp = math.exp %x : f32
    // CHECK-NEXT: gpu.return
    gpu.return
  }

  // What is marked as an estimate is one instruction; anything else stays.

  // CHECK-LABEL: gpu.func @estimates(
  // CHECK-SAME:    %[[X:[^:]*]]: f32, %[[W:[^:]*]]: f64
  gpu.func @estimates(%x: f32, %w: f64) kernel {
    // CHECK-DAG:  %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
    // CHECK-DAG:  %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
    // CHECK-DAG:  %[[WIDE:.*]] = arith.constant 1.000000e+00 : f64
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %wide = arith.constant 1.0 : f64
    // CHECK:      llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[X]]) : (f32) -> f32
    %power = math.exp2 %x fastmath<afn> : f32
    // CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[X]]) : (f32) -> f32
    %reciprocal = arith.divf %one, %x fastmath<arcp,afn> : f32
    // CHECK-NEXT: math.exp2 %[[X]] : f32
    %accurate = math.exp2 %x : f32
    // CHECK-NEXT: math.exp2 %[[W]] fastmath<afn> : f64
    %wide_power = math.exp2 %w fastmath<afn> : f64
    // CHECK-NEXT: arith.divf %[[ONE]], %[[X]] fastmath<arcp> : f32
    %divided = arith.divf %one, %x fastmath<arcp> : f32
    // CHECK-NEXT: arith.divf %[[TWO]], %[[X]] fastmath<{{.*}}> : f32
    %quotient = arith.divf %two, %x fastmath<arcp,afn> : f32
    // CHECK-NEXT: arith.divf %[[WIDE]], %[[W]] fastmath<{{.*}}> : f64
    %wide_quotient = arith.divf %wide, %w fastmath<arcp,afn> : f64
    // CHECK-NEXT: gpu.return
    gpu.return
  }

  // CHECK-LABEL: gpu.func @narrow(
  // CHECK-SAME:    %[[X:[^:]*]]: bf16
  gpu.func @narrow(%x: bf16) kernel {
    // CHECK-NEXT: llvm.call_intrinsic "llvm.fabs.bf16"(%[[X]]) : (bf16) -> bf16
    %abs = math.absf %x : bf16
    // CHECK-NEXT: gpu.return
    gpu.return
  }

  // CHECK-LABEL: gpu.func @integers(
  // CHECK-SAME:    %[[X:[^:]*]]: i64
  gpu.func @integers(%x: i64) kernel {
    // CHECK-NEXT: "llvm.intr.abs"(%[[X]])
    %abs = math.absi %x : i64
    // CHECK-NEXT: "llvm.intr.ctlz"(%[[X]])
    %leading = math.ctlz %x : i64
    // CHECK-NEXT: "llvm.intr.cttz"(%[[X]])
    %trailing = math.cttz %x : i64
    // CHECK-NEXT: llvm.intr.ctpop(%[[X]])
    %count = math.ctpop %x : i64
    // CHECK-NEXT: gpu.return
    gpu.return
  }

  // The exponent of libdevice's function has 32 bits.

  // CHECK-LABEL: gpu.func @power(
  // CHECK-SAME:    %[[X:[^:]*]]: f32, %[[N8:[^:]*]]: i8, %[[N32:[^:]*]]: i32, %[[N64:[^:]*]]: i64, %[[I:[^:]*]]: index
  gpu.func @power(%x: f32, %n8: i8, %n32: i32, %n64: i64, %i: index) kernel {
    // CHECK-DAG: %[[EXT:.*]] = arith.extsi %[[N8]] : i8 to i32
    // CHECK-DAG: math.fpowi %[[X]], %[[EXT]] : f32, i32
    %p8 = math.fpowi %x, %n8 : f32, i8
    // CHECK-DAG: math.fpowi %[[X]], %[[N32]] : f32, i32
    %p32 = math.fpowi %x, %n32 : f32, i32
    // CHECK-DAG: math.fpowi %[[X]], %[[N64]] : f32, i64
    %p64 = math.fpowi %x, %n64 : f32, i64
    // CHECK-DAG: math.fpowi %[[X]], %[[I]] : f32, index
    %pi = math.fpowi %x, %i : f32, index
    // CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i32
    // CHECK-DAG: math.fpowi %[[X]], %[[THREE]] : f32, i32
    %three = arith.constant 3 : i64
    %cube = math.fpowi %x, %three : f32, i64
    gpu.return
  }
}
