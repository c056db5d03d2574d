// RUN: fad-opt %s -fad-math-to-ptx -verify-diagnostics

gpu.module @kernels {
  gpu.func @round(%x: f32) kernel {
    // expected-error @+1 {{there are no instructions that round 'f32' to 'bf16' by 'toward_zero'; leave it out, or set to_nearest_even}}
    %0 = arith.truncf %x toward_zero : f32 to bf16
    gpu.return
  }
}
