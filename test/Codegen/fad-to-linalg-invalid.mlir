// RUN: fad-opt %s --fad-to-linalg --verify-diagnostics

func.func @host(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'fad.residual' op is on the host, and no pass of fad copies it there and back; remove 'on host'}}
  %r = fad.residual %x on host needed_by [] reason "argument" : tensor<4xf32>
  return %r : tensor<4xf32>
}
