//===- Passes.td - Conversions out of the fad dialect ------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CONVERSION_PASSES_TD
#define FAD_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FadExpandPrimitives : Pass<"fad-expand-primitives"> {
  let summary = "Expand activation primitives to arith and math";
  let description = [{
    Replaces each activation primitive by its numerically stable form in
    `arith` and `math`. f16 and bf16 are extended to f32 first and rounded
    once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FadToLinalg : Pass<"fad-to-linalg"> {
  let summary = "Lower the fad dialect to linalg on tensors";
  let description = [{
    Replaces each `fad.elementwise` by one `linalg.generic` with the same body,
    removes `fad.residual`, and expands the activation primitives: what is left
    is upstream operations that any MLIR compiler takes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def FadToGPU : Pass<"fad-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Outline elementwise operations as GPU kernels";
  let description = [{
    Gives each `fad.elementwise` of a function `@f` a `gpu.func` in the
    `gpu.module` `@f_kernels` and names it in the operation's `fad.kernel`
    attribute. A kernel takes the operation's operands, then its results, as
    contiguous buffers, then the number of elements; threads of a warp access
    neighbouring elements.
  }];
  let options = [
    Option<"blockSize", "block-size", "int64_t", /*default=*/"256", "Threads in a block">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // FAD_CONVERSION_PASSES_TD
