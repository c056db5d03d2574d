//===- Passes.td - Passes on tensor programs ---------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_PASSES_TD
#define FAD_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FadCheckSizes : Pass<"fad-check-sizes"> {
  let summary = "Refuse sizes that no memory holds";
  let description = [{
    Reports each value the type of which has 2^59 elements or more, where sizes that
    are 0 or not known count as 1: numbers of bytes that are computed from such sizes
    need not fit into 64 bits. All pipelines begin with this pass. Sizes that are
    known only when the program runs are checked then, by `fad-runner` and by the
    Python package.

    `tensor.pad` by -2^63, which stands for a padding that is not known, is reported
    as well.
  }];
}

def FadMakePublic : Pass<"fad-make-public", "::mlir::ModuleOp"> {
  let summary = "Make the function to differentiate public";
  let description = [{
    Goes before `inline`, which erases private functions that nothing calls any
    more: the function that `fad-differentiate` is about is to stay.
  }];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"",
           "Function to make public; default: the only one with fad.request, or else "
           "the only public function with a body">
  ];
}

def FadCheckCalls : Pass<"fad-check-calls", "::mlir::ModuleOp"> {
  let summary = "Refuse calls that inlining would make too much of";
  let description = [{
    Goes before `inline`. Where each of 24 functions calls the next one twice, inlining
    makes 2^24 copies of the last one. The call that takes the operations that are
    added to the program beyond `limit` is an error. So is an operation that has a
    region and is not registered, which `inline` cannot take.
  }];
  let options = [
    Option<"limit", "limit", "uint64_t", /*default=*/"1 << 20",
           "Operations that inlining may add to the module">
  ];
}

def FadNormalize : Pass<"fad-normalize", "::mlir::func::FuncOp"> {
  let summary = "Rewrite what frameworks export into what reverse rules cover";
  let description = [{
    Writes operations on tensors in terms of others, by the decompositions that
    upstream has for them: `linalg.softmax` as reductions and elementwise
    operations, `tensor.generate` as a `linalg.generic` of `linalg.index`,
    `tensor.pad` with a computed border as an insertion, one with a negative border
    as one of a slice, `linalg.pack` and
    `linalg.unpack` as pad, reshape and transpose, an `scf.execute_region` of one
    block as what is in it. `tensor.gather` becomes a
    `linalg.generic` that extracts elements, and a scalar that a body captures
    becomes an operand where it may depend on what is differentiated.

    In a sum that is smooth, such as `max(a, b) + log1p(exp(-|a - b|))`, a maximum
    that is a comparison and a select becomes `arith.maximumf`, which shares ties.

    Everything else stays as it is; only upstream operations come out.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadSimplifySlices : Pass<"fad-simplify-slices", "::mlir::func::FuncOp"> {
  let summary = "Rewrite slices that upstream cannot lower";
  let description = [{
    Upstream's verifier and lowerings fail at some slices that have a meaning. They
    become others of the same meaning:

    - operands of `tensor.concat` without elements, which may lie behind the end of the
      result, are left out;
    - `tensor.pad` of a tensor without elements becomes a fill, or a `tensor.generate`,
      of the border;
    - strides of `tensor.extract_slice` and `tensor.insert_slice` along a dimension of
      which they take one element are 1;
    - those that step over elements and drop dimensions keep them, beside a
      `tensor.collapse_shape` or `tensor.expand_shape`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadRaise : Pass<"fad-raise"> {
  let summary = "Recognize spelled-out activations and elementwise linalg forms";
  let description = [{
    Rewrites chains of `arith` and `math` operations, on scalars, vectors or
    tensors, to the activation primitives of the dialect, and the elementwise
    named forms of `linalg` (`linalg.exp`, `linalg.map`,
    `linalg.elementwise`, ...) to `linalg.generic`.

    A constant matches when it is within one unit in the last place of the
    exact constant in its own element type, so that raising changes a value by
    no more than the rounding of the operations it replaces. What the
    recognized forms are is listed in `docs/Raising.md`.
  }];
  let options = [
    Option<"withinOperations", "within-operations", "bool", /*default=*/"false",
           "Leave a chain of several operations on tensors as it is written">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect"];
}

def FadPartition : Pass<"fad-partition", "::mlir::func::FuncOp"> {
  let summary = "Collect single-source elementwise subgraphs into fad.elementwise";
  let description = [{
    Classifies every operation as `fad` (elementwise, has a derivative rule,
    and all its non-constant tensor operands come from one source, element by
    element) or `nfad` (everything else), and moves each maximal single-source
    subgraph into one `fad.elementwise`.

    Constants, splats and loop-invariant scalars count as constants. One walk
    in program order decides; the subgraphs are convex by construction.
  }];
  let options = [
    Option<"annotateOnly", "annotate-only", "bool", /*default=*/"false",
           "Only attach fad.class and fad.region attributes">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def FadDifferentiate : Pass<"fad-differentiate", "::mlir::ModuleOp"> {
  let summary = "Append the adjoint of a function to it";
  let description = [{
    Turns `@f(args) -> results` into the joint function
    `@f_joint(args, cotangents) -> (results, gradients)`: the operations of
    `@f`, the derivative of each elementwise region, and the adjoints of all
    operations on the path from `wrt` to `results`. Results that are not
    differentiated (running statistics beside a loss) are returned as they are
    and get no cotangent.

    A region's derivative is computed by forward mode from its source, so the
    joint function does not yet decide what is kept for backward;
    `fad-select-residuals` does. With `derivatives-from=both` it has more to
    choose from: derivatives of single operations, too, are tensors of their
    own, and where one can also be computed from the results of its region,
    `fad.alternatives` holds both. So it does with a result that can be computed
    from other results, or by part of the region; values inside of a region that
    may be worth keeping become results.

    `scf.if`, `scf.index_switch` and `scf.for` on tensors are differentiated as
    they are: the adjoint of a conditional computes the branch taken again;
    that of a loop runs backwards over what the iterations begin with, which
    the loop stacks. An `scf.while` becomes a loop that counts its iterations
    and an `scf.for` first. What goes through `fad.detach` has no derivative.
    Scalars outside of bodies have cotangents, too. Side effects happen once,
    where they are. Everything that cannot be differentiated is reported in
    one run.
  }];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"",
           "Function to differentiate; default: the only one with fad.request, or else "
           "the only public function with a body">,
    ListOption<"wrt", "wrt", "int64_t",
           "Arguments to differentiate with respect to; default: every floating-point tensor">,
    ListOption<"results", "results", "int64_t",
           "Results to differentiate, each of which gets a cotangent; default: every one of "
           "floating point">,
    Option<"derivativesFrom", "derivatives-from", "::mlir::fad::DerivativeForm",
           /*default=*/"::mlir::fad::DerivativeForm::operands",
           "What derivatives are computed from, where a rule has several forms",
           [{::mlir::fad::getDerivativeFormValues()}]>,
    Option<"leaveJoint", "leave-joint", "bool", /*default=*/"false",
           "Leave a function as it is, but for its name, that is differentiated already: some "
           "argument has fad.cotangent">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def FadMarkJoint : Pass<"fad-mark-joint", "::mlir::ModuleOp"> {
  let summary = "Mark the cotangents and gradients of a joint function";
  let description = [{
    Marks, as `fad-differentiate` does, a function that another frontend has
    differentiated: `cotangents` lists the arguments that are cotangents, and
    `gradients` the results that are gradients, by default all that depend on a
    cotangent. Cotangents belong to the results that are no gradients, in order,
    and gradients to the arguments that are no cotangents, as far as these are
    of floating point; where their numbers differ, `cotangents-of` and
    `gradients-of` list what they belong to.

    With `gradients` alone the function is one that returns a loss and starts
    its backward part from a constant tensor, which all gradients are linear in.
    It gets the cotangent of the loss as another argument, the last one; at 1 it
    computes the same as before.

    Without `cotangents` and `gradients` the pass does nothing.
  }];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"",
           "Function to mark; default: the only one with fad.request, or else the only "
           "public function with a body">,
    ListOption<"cotangents", "cotangents", "int64_t", "Arguments that are cotangents">,
    ListOption<"gradients", "gradients", "int64_t",
           "Results that are gradients; default: those that depend on a cotangent">,
    ListOption<"cotangentsOf", "cotangents-of", "int64_t",
           "Results that the cotangents belong to; default: all, in order">,
    ListOption<"gradientsOf", "gradients-of", "int64_t",
           "Arguments that the gradients belong to; default: all, in order">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadExtractCoefficients : Pass<"fad-extract-coefficients", "::mlir::func::FuncOp"> {
  let summary = "Write elementwise adjoints as cotangent times Jacobian coefficient";
  let description = [{
    Works on joint functions (some argument has `fad.cotangent`) that another
    frontend has differentiated; leaves other functions alone.

    The backward part of such a function is linear in its cotangents. An
    elementwise slice of it becomes a sum of cotangents, each times a
    coefficient of the Jacobian: what the slice computes where that cotangent is
    1 and the others are 0. Coefficients are computed by `fad.elementwise` operations that
    read no cotangent, as the derivatives are that `fad-differentiate` makes,
    so that `fad-select-residuals` chooses between them and what they are
    computed from. Other values that only backward needs, and that depend on no
    cotangent, take the same form.

    A slice stays as it is where it reads its coefficients already, or where
    these would take more bytes than what they are computed from. A zero that
    the slice chooses stays zero whatever the cotangent is. Coefficients of f16
    and bf16 are computed in f32 and rounded once.

    What is not linear in the cotangents, or not known to be, is an error, as
    is a gradient that depends on no cotangent and is not zero.
  }];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FadSelectResiduals : Pass<"fad-select-residuals", "::mlir::func::FuncOp"> {
  let summary = "Decide what crosses from forward to backward";
  let description = [{
    Works on joint functions (some argument has `fad.cotangent`); leaves others
    alone. What the backward part reads of the forward part goes through
    `fad.residual`, by `policy`:

    - `bp`: what the adjoint of each operation reads, as a tape saves it;
    - `recompute`: the source of each elementwise region; what the region
      computes is computed again in backward;
    - `fad`: one derivative for each result of a region;
    - `auto` (default): whatever takes the fewest bytes, and among choices of equal bytes
      the least estimated time, by a minimum cut between what forward computes
      and what backward reads. Its candidates are all values of the forward
      part, derivatives among them. Backward computes the others again, where
      `recompute` allows that: `nothing`; `elementwise` operations, broadcasts
      and slices; also `reductions`; or `all` but contractions and operations
      with side effects. With a `residual-budget` it takes the least time within that
      many bytes instead. It takes what another policy keeps of the joint function where
      that is less.

    Constants, shapes, views (transposes, reshapes, broadcasts, borders), and
    what is computed from positions and scalars alone, such as a mask that is
    drawn from a seed, are always computed again. So are slices of what is alive
    anyway. Arguments and results of the function cost nothing: they
    are alive anyway.

    Derivatives are exact unless these options of `auto` say otherwise.
    `derivative-bits` lets it keep a derivative that is bounded on all numbers,
    with limits on either side (that of any smooth activation, of no periodic or
    growing function), in that many bits an element: levels are placed where the
    mean-square error over arguments that follow the standard logistic
    distribution is least, the limits among them from two bits on. `derivative-from-output`
    lets it compute the derivative of an activation that has one minimum (GELU,
    SiLU, Mish) by polynomials from the activation's result and one bit. The
    largest and the mean-square error stand in the reason of the residual.

    Under `recompute` and `fad`, values that derive from one tensor, given tensors of
    fewer elements, are computed again from it where that saves bytes: the input
    of a normalisation is kept once, with its statistics, instead of what was
    made of it. Under `fad` that goes for arithmetic only: no activation is
    computed again.

    Under these policies, `recompute`, `derivative-bits`, `derivative-from-output` and
    `residual-budget` are errors, unless they have their defaults.
  }];
  let options = [
    Option<"policy", "policy", "::mlir::fad::Policy", /*default=*/"::mlir::fad::Policy::automatic",
           "What crosses from forward to backward", [{::mlir::fad::getPolicyValues()}]>,
    Option<"recompute", "recompute", "::mlir::fad::RecomputeLevel",
           /*default=*/"::mlir::fad::RecomputeLevel::elementwise",
           "What backward may compute again under the policy auto",
           [{::mlir::fad::getRecomputeLevelValues()}]>,
    Option<"assumedSize", "assumed-size", "int64_t", /*default=*/"128",
           "What the policy auto takes for a size that is known only when the program runs">,
    Option<"derivativeBits", "derivative-bits", "int64_t", /*default=*/"0",
           "Bits an element that the policy auto may round bounded derivatives to, 1 to 8; 0: "
           "derivatives are exact">,
    Option<"derivativeFromOutput", "derivative-from-output", "bool", /*default=*/"false",
           "Let the policy auto compute the derivative of an activation with one minimum "
           "approximately, from the result and one bit an element: the side of the minimum">,
    Option<"residualBudget", "residual-budget", "int64_t", /*default=*/"-1",
           "Bytes that residuals may take under the policy auto, which takes the least time "
           "within them; -1: the fewest bytes">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def FadSplit : Pass<"fad-split", "::mlir::ModuleOp"> {
  let summary = "Split joint functions at their residuals";
  let description = [{
    Replaces `@f_joint`, after `fad-select-residuals`, by
    `@f_forward(args) -> (results, residuals)` and
    `@f_backward(residuals, cotangents) -> gradients`.

    With `reuse-residuals`, backward gets the residuals for its own, to
    overwrite and to free: those that are neither arguments nor results of the
    primal function, and that are one residual only, are marked `fad.owned`.
  }];
  let options = [
    Option<"reuseResiduals", "reuse-residuals", "bool", /*default=*/"false",
           "Let backward overwrite and free residuals">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::func::FuncDialect"];
}

def FadShortenLifetimes : Pass<"fad-shorten-lifetimes", "::mlir::func::FuncOp"> {
  let summary = "Order forward and backward for memory";
  let description = [{
    In a backward function, moves what depends on no cotangent, which is what
    `fad-select-residuals` has computed again, from the beginning of the function
    to where it is first read. In a forward function, moves what only residuals
    need, such as derivatives and `fad.pack`, up to where the first tensor that
    it is computed from is not read any more. Tensors are alive for a shorter
    time so, and what fits is written over what has died.

    Operations with side effects stay, as do functions that are not one block.
  }];
  let dependentDialects = ["::mlir::fad::FadDialect"];
}

def FadRematerialize : Pass<"fad-rematerialize", "::mlir::ModuleOp"> {
  let summary = "Compute again what would be alive at the peak of backward";
  let description = [{
    In each pair `@f_forward` and `@f_backward`, finds the operation of backward
    during which the most bytes are alive. A tensor that is alive there only to be
    read later is computed again before it is read, where that takes a few
    elementwise operations (or `fad.unpack`), and what these read is alive then anyway
    or takes at most three quarters of the bytes. This is repeated while it lowers the
    peak; nothing is computed more than twice, and nothing changes where less than
    1/64 of the peak is gained.

    The chain of residual connections of a network shows what it is for: the first
    adjoint that reads the end of the chain has all of it computed again from the
    beginning, and each part is read once more by an adjoint of its own much later.

    What is computed again has the attribute `rematerialized`, so that no pass merges
    it with what computes the same. Functions that are not one block are left alone.
  }];
  let options = [
    Option<"assumedSize", "assumed-size", "int64_t", /*default=*/"128",
           "the size that dynamic dimensions are taken to have">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect"];
}

def FadFuse : Pass<"fad-fuse", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise operations";
  let description = [{
    Merges `fad.elementwise` operations that read the same tensors into one
    with several results (a value and its derivative), and each into its only
    consumer (the multiply and accumulate of backward).

    Only neighbours are fused: with a contraction in between, tensors would
    stay alive while it runs. One operation gets no more than 16 tensors.

    Joint functions are left alone: forward and backward are still one, and
    `fad-select-residuals` tells them apart by operation.
  }];
  let dependentDialects = ["::mlir::fad::FadDialect"];
}

#endif // FAD_TRANSFORMS_PASSES_TD
