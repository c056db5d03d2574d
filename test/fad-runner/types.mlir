// The floating-point types, forward and backward, against numpy in f64.

// DEFINE: %{type} =
// DEFINE: %{dtype} =
// DEFINE: %{bound} =
// DEFINE: %{make} = %python %S/Inputs/make_arrays.py %t
// DEFINE: %{check} = %python %S/Inputs/check_arrays.py %t
// DEFINE: %{test} = %{make} 'x=rng.normal(size=(3, 5)).astype("%{dtype}")' \
// DEFINE:     'w=rng.normal(size=(5, 4)).astype("%{dtype}")' && \
// DEFINE:   sed s/TYPE/%{type}/g %s | fad-runner - --policy=fad --arg=%t/x.npy --arg=%t/w.npy --out=%t && \
// DEFINE:   %{check} 'close(out0, np.tanh(np.float64(x) @ w).astype(x.dtype), %{bound})' \
// DEFINE:     'close(grad0, ((1 - np.tanh(np.float64(x) @ w)**2) @ w.T).astype(x.dtype), %{bound})' \
// DEFINE:     'close(grad1, (x.T @ (1 - np.tanh(np.float64(x) @ w)**2)).astype(x.dtype), %{bound})'

// REDEFINE: %{type} = f64
// REDEFINE: %{dtype} = f8
// REDEFINE: %{bound} = 1e-14
// RUN: %{test}
// REDEFINE: %{type} = f32
// REDEFINE: %{dtype} = f4
// REDEFINE: %{bound} = 1e-6
// RUN: %{test}
// REDEFINE: %{type} = f16
// REDEFINE: %{dtype} = f2
// REDEFINE: %{bound} = 3e-3
// RUN: %{test}

// numpy has no bf16: a bf16 tensor is read from any float and written as f32.
// REDEFINE: %{type} = bf16
// REDEFINE: %{dtype} = f4
// REDEFINE: %{bound} = 3e-2
// RUN: %{test}
// RUN: %{check} 'np.all(out0.view("u4") % 65536 == 0)' 'np.all(grad0.view("u4") % 65536 == 0)'

// The results do not depend on how the gradients are checked, which is in f64.
// RUN: sed s/TYPE/bf16/g %s | env FAD_OPT_LEVEL=3 fad-runner - --check-gradients | FileCheck %s
// RUN: sed s/TYPE/f16/g %s | env FAD_OPT_LEVEL=3 fad-runner - --check-gradients | FileCheck %s
// RUN: sed s/TYPE/f32/g %s | env FAD_OPT_LEVEL=3 fad-runner - --check-gradients | FileCheck %s
// RUN: sed s/TYPE/f64/g %s | env FAD_OPT_LEVEL=3 fad-runner - --check-gradients | FileCheck %s
// CHECK: {{^}}0 {{ *}}tensor<3x5x{{b?f[0-9]+}}> {{.*}} ok
// CHECK: {{^}}1 {{ *}}tensor<5x4x{{b?f[0-9]+}}> {{.*}} ok

func.func @layer(%x: tensor<3x5xTYPE>, %w: tensor<5x4xTYPE>) -> tensor<3x4xTYPE> {
  %zero = arith.constant dense<0.0> : tensor<3x4xTYPE>
  %y = linalg.matmul ins(%x, %w : tensor<3x5xTYPE>, tensor<5x4xTYPE>)
      outs(%zero : tensor<3x4xTYPE>) -> tensor<3x4xTYPE>
  %z = math.tanh %y : tensor<3x4xTYPE>
  return %z : tensor<3x4xTYPE>
}
