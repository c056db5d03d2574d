//===- FadTransformOps.td - Differentiation in schedules ---*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMOPS_FADTRANSFORMOPS_TD
#define FAD_TRANSFORMOPS_FADTRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Fad_TransformOp<string mnemonic>
    : Op<Transform_Dialect, "fad." # mnemonic, [
        FunctionalStyleTransformOpTrait, MemoryEffectsOpInterface, TransformOpInterface,
        TransformEachOpTrait, ReportTrackingListenerFailuresOpTrait]> {
  code applyDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter, ::mlir::func::FuncOp target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
  let extraClassDeclaration = applyDeclaration;
}

// An operation that differentiates, with the options of `fad-nest`.
class Fad_DifferentiatingOp<string mnemonic> : Fad_TransformOp<mnemonic> {
  let arguments = (ins
    TransformHandleTypeInterface:$target,
    OptionalAttr<StrAttr>:$policy,
    OptionalAttr<DenseI64ArrayAttr>:$wrt,
    OptionalAttr<DenseI64ArrayAttr>:$of_results,
    OptionalAttr<StrAttr>:$options);
  let assemblyFormat = [{
    $target (`policy` `(` $policy^ `)`)? (`wrt` $wrt^)? (`results` $of_results^)?
    (`options` `(` $options^ `)`)? attr-dict `:` functional-type($target, results)
  }];
}

def FadPartitionOp : Fad_TransformOp<"partition"> {
  let summary = "Collects elementwise operations of a function in regions";
  let description = [{
    Prepares each function of the target, as `fad-nest` does (calls are inlined, and
    operations of exporters rewritten), gives activations their names (`fad-raise`),
    and moves each maximal elementwise subgraph with a single source into one
    `fad.elementwise` (`fad-partition`).

    The handle is consumed; the result is a handle to the functions. A function that
    cannot be prepared stays as it is, and is a silenceable failure whose notes have
    the reasons.

    ```mlir
    %function = transform.fad.partition %f : (!transform.any_op) -> !transform.any_op
    %regions = transform.structured.match ops{["fad.elementwise"]} in %function
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$function);
  let assemblyFormat = "$target attr-dict `:` functional-type($target, results)";
}

def FadDifferentiateOp : Fad_DifferentiatingOp<"differentiate"> {
  let summary = "Appends the adjoint of a function to it, and selects residuals";
  let description = [{
    Adds, for each function `@f` of the target, the joint function `@f_joint`, which
    takes the arguments of `@f` and the cotangents, and returns the results of `@f`
    and the gradients. Each value that is to cross from forward to backward goes
    through a `fad.residual`, which says why. `transform.fad.split` makes a forward
    and a backward function of the joint function.

    The attributes are options of `fad-nest`. `policy` selects what crosses: `bp`,
    `recompute`, `fad`, or `auto`, the default. `wrt` lists the arguments to
    differentiate with respect to, by default every floating-point tensor; `results`
    lists the results to differentiate, by default all of floating point. `options`
    has any others, as text.

    The handle is consumed: the function is erased, unless another operation refers to
    it. The result is a handle to the joint function. A function that fad cannot
    differentiate stays as it is, and is a silenceable failure whose notes have the
    reasons, at the operations that are in the way. An option that `fad-nest` does not
    have, or that says what the operation itself does, is a definite failure.

    ```mlir
    %joint = transform.fad.differentiate %f policy("auto") wrt [0, 2]
        options("recompute=all residual-budget=64KiB")
        : (!transform.any_op) -> !transform.any_op
    %residuals = transform.structured.match ops{["fad.residual"]} in %joint
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let results = (outs TransformHandleTypeInterface:$joint);
}

def FadSplitOp : Fad_TransformOp<"split"> {
  let summary = "Makes a forward and a backward function of a joint function";
  let description = [{
    Replaces each joint function of the target, which `transform.fad.differentiate`
    has made, by `@f_forward`, which returns the results and then the residuals, and
    `@f_backward`, which takes the residuals and then the cotangents, and returns the
    gradients. With `reuse_residuals`, backward may overwrite and free residuals.

    The handle is consumed. The results are handles to the two functions.

    ```mlir
    %forward, %backward = transform.fad.split %joint
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, UnitAttr:$reuse_residuals);
  let results = (outs TransformHandleTypeInterface:$forward,
                      TransformHandleTypeInterface:$backward);
  let assemblyFormat = [{
    $target (`reuse_residuals` $reuse_residuals^)? attr-dict
    `:` functional-type($target, results)
  }];
}

def FadNestOp : Fad_DifferentiatingOp<"nest"> {
  let summary = "Differentiates a function: the pipeline fad-nest";
  let description = [{
    Replaces each function of the target by its forward and its backward function:
    `transform.fad.differentiate`, which has the same attributes, and then
    `transform.fad.split`.

    ```mlir
    %forward, %backward = transform.fad.nest %f policy("fad")
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```
  }];
  let results = (outs TransformHandleTypeInterface:$forward,
                      TransformHandleTypeInterface:$backward);
}

#endif // FAD_TRANSFORMOPS_FADTRANSFORMOPS_TD
