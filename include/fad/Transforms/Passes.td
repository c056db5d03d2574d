//===- Passes.td - Passes on tensor programs ---------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_PASSES_TD
#define FAD_TRANSFORMS_PASSES_TD

include "fad/Analysis/OptionPass.td"
include "fad/Transforms/SelectionOptions.td"

def FadCheckInits : FadPass<"fad-check-inits"> {
  let summary = "Warn of sums into undefined elements";
  let description = [{
    Warns where an operation adds to, or reads in another way, the elements of an
    init that is a `tensor.empty`, or a tensor slice or reshape of one: a product of
    matrices whose result nobody has filled with zeros, for instance. The elements
    are whatever is in the memory. Operations that read `linalg.index` may leave
    these elements out, and no warning is given.
  }];
}

def FadCheckSizes : FadPass<"fad-check-sizes"> {
  let summary = "Refuse sizes that no memory holds";
  let description = [{
    Reports each value whose type has 2^59 elements or more, where sizes that are
    0 or dynamic count as 1: the number of bytes of such a value need not fit into
    64 bits. All pipelines begin with this pass. `fad-runner` and the Python
    package check dynamic sizes when the program runs.

    A `tensor.pad` by -2^63, the marker of a dynamic padding, is reported as well, as
    are a `tensor.expand_shape` with an output shape that is not that of its result, and
    an indexing map with `mod`, `floordiv` or `ceildiv` by a number that is not
    positive.
  }];
}

def FadMakePublic : FadPass<"fad-make-public", "::mlir::ModuleOp"> {
  let summary = "Make the function to differentiate public";
  let description = [{
    This pass goes before `inline`, which erases private functions without callers:
    the function to differentiate has to survive.
  }];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"",
           "Function to make public; default: the only one with fad.request, or else "
           "the only public function with a body">
  ];
}

def FadCheckCalls : FadPass<"fad-check-calls", "::mlir::ModuleOp"> {
  let summary = "Refuse calls whose inlining makes too many operations";
  let description = [{
    This pass goes before `inline`. Where each of 24 functions calls the next one
    twice, inlining makes 2^24 copies of the last one. The first call that takes
    the number of added operations beyond `limit` is an error. An unregistered
    operation with a region, which `inline` cannot take, is an error as well.
  }];
  let options = [
    Option<"limit", "limit", "FAD_OPTION(uint64_t)", /*default=*/"1 << 20",
           "Operations that inlining may add to the module">
  ];
}

def FadNormalize : FadPass<"fad-normalize", "::mlir::func::FuncOp"> {
  let summary = "Rewrite exported operations to operations with reverse rules";
  let description = [{
    Operations on tensors are decomposed into others, by upstream's patterns:

    - `linalg.softmax` into reductions and elementwise operations;
    - `tensor.generate` into a `linalg.generic` of `linalg.index`;
    - `tensor.pad` with a computed border into an insertion, and one with a
      negative border into an insertion of a tensor slice;
    - `linalg.pack` and `linalg.unpack` into pad, reshape and transpose;
    - `bufferization.materialize_in_destination` into `linalg.copy`;
    - an `scf.execute_region` of one block into the operations of the block.

    `tensor.gather` becomes a `linalg.generic` that extracts elements. In a
    smooth sum such as `max(a, b) + log1p(exp(-|a - b|))`, a maximum spelled as
    comparison and select becomes `arith.maximumf`, whose equal operands share the
    derivative.

    Other operations stay as they are. The result has upstream operations only.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadSimplifySlices : FadPass<"fad-simplify-slices", "::mlir::func::FuncOp"> {
  let summary = "Rewrite tensor slices that upstream cannot lower";
  let description = [{
    Upstream's verifier and lowerings reject some valid tensor slices. The pass
    rewrites them to equal ones:

    - operands of `tensor.concat` without elements, which may lie behind the end of
      the result, are left out;
    - `tensor.pad` of a tensor without elements becomes a fill, or a
      `tensor.generate`, of the border;
    - `tensor.collapse_shape` of a tensor without elements becomes an empty tensor;
    - `tensor.extract_slice` and `tensor.insert_slice` get stride 1 along each
      dimension of which they take one element;
    - slices that skip elements and drop dimensions become slices that keep these
      dimensions, and a `tensor.collapse_shape` or `tensor.expand_shape`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadRaise : FadPass<"fad-raise"> {
  let summary = "Recognize spelled-out activations and elementwise linalg forms";
  let description = [{
    Rewrites chains of `arith` and `math` operations, on scalars, vectors or
    tensors, to the activation primitives of the dialect, and the elementwise
    named operations of `linalg` (`linalg.exp`, `linalg.map`,
    `linalg.elementwise`, ...) to `linalg.generic`.

    A constant matches when it is within one unit in the last place of the exact
    constant in its element type. So raising changes a value by no more than the
    rounding of the replaced operations. `docs/Raising.md` lists the chains that
    are recognized.
  }];
  let options = [
    Option<"withinOperations", "within-operations", "FAD_OPTION(bool)", /*default=*/"false",
           "Leave a chain of several operations on tensors as it is written">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect"];
}

def FadPartition : FadPass<"fad-partition", "::mlir::func::FuncOp"> {
  let summary = "Collect single-source elementwise subgraphs into fad.elementwise";
  let description = [{
    Each operation is either `fad` (elementwise, with a derivative rule, and all
    its non-constant tensor operands come from one source, element by element) or
    `nfad` (every other operation). Each maximal single-source subgraph moves into
    one `fad.elementwise`.

    Splats and loop-invariant scalars count as constants. One walk in program order
    classifies the operations; the subgraphs are convex by construction.
  }];
  let options = [
    Option<"annotateOnly", "annotate-only", "FAD_OPTION(bool)", /*default=*/"false",
           "Only attach fad.class and fad.region attributes">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def FadDifferentiate : FadPass<"fad-differentiate", "::mlir::ModuleOp"> {
  let summary = "Append the adjoint of a function to it";
  let description = [{
    Turns `@f(args) -> results` into the joint function
    `@f_joint(args, cotangents) -> (results, gradients)`: the operations of
    `@f`, the derivative of each elementwise region, and the adjoints of all
    operations on the path from `wrt` to `results`. Results that are not
    differentiated (running statistics beside a loss) are returned unchanged and
    get no cotangent.

    Forward mode computes the derivative of a region from the region's source.
    The joint function does not choose residuals; `fad-select-residuals` does. The
    option `derivatives-from=both` gives it more candidates:

    - the derivative of each single operation becomes a tensor;
    - `fad.alternatives` holds both forms of a derivative that can also be computed
      from the results of its region, and of a result that can also be computed from
      other results, or by part of the region;
    - values inside a region that may be worth keeping become results.

    `scf.if`, `scf.index_switch` and `scf.for` on tensors have adjoints. The adjoint
    of a conditional executes the taken branch again. The adjoint of a loop runs
    backwards over the initial values of each iteration, which the loop stacks. An
    `scf.while` first becomes a loop that counts its iterations, and an `scf.for`.
    `fad.detach` stops derivatives. Scalars outside of bodies have cotangents, too.
    Side effects happen once, in place. One run reports every operation that has no
    derivative.
  }];
  let options = !listconcat(requestOptions, [
    Option<"derivativesFrom", "derivatives-from", "FAD_OPTION(::mlir::fad::DerivativeForm)",
           /*default=*/"::mlir::fad::DerivativeForm::operands",
           "What derivatives are computed from, where a rule has several forms",
           [{::mlir::fad::getDerivativeFormValues()}]>
  ]);
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def FadMarkJoint : FadPass<"fad-mark-joint", "::mlir::ModuleOp"> {
  let summary = "Attach the attributes of a joint function to its cotangents and gradients";
  let description = [{
    This pass makes a joint function of a function that another frontend has
    differentiated. `cotangents` lists the arguments that are cotangents, and
    `gradients` the results that are gradients, by default all that depend on a
    cotangent. Cotangents belong, in order, to the other results of floating point,
    and gradients to the other arguments of floating point; where the numbers
    differ, `cotangents-of` and `gradients-of` list these results and arguments.

    Given `gradients` alone, the function returns a loss, and its backward part
    starts from a constant tensor, in which all gradients are linear. The pass
    appends an argument, the cotangent of the loss; with the value 1, the function
    computes the same as before.

    Without `cotangents` and `gradients` the pass does nothing.
  }];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"",
           "Function to mark; default: the only one with fad.request, or else the only "
           "public function with a body">,
    ListOption<"cotangents", "cotangents", "FAD_OPTION(int64_t)", "Arguments that are cotangents">,
    ListOption<"gradients", "gradients", "FAD_OPTION(int64_t)",
           "Results that are gradients; default: those that depend on a cotangent">,
    ListOption<"cotangentsOf", "cotangents-of", "FAD_OPTION(int64_t)",
           "Results that the cotangents belong to; default: all, in order">,
    ListOption<"gradientsOf", "gradients-of", "FAD_OPTION(int64_t)",
           "Arguments that the gradients belong to; default: all, in order">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadExtractCoefficients : FadPass<"fad-extract-coefficients", "::mlir::func::FuncOp"> {
  let summary = "Write elementwise adjoints as cotangent times Jacobian coefficient";
  let description = [{
    This pass rewrites joint functions (some argument has `fad.cotangent`) that
    another frontend has differentiated. Other functions stay as they are.

    The backward part of such a function is linear in its cotangents. Each linear
    region, a connected group of elementwise operations of the backward part with
    one sink, becomes a sum of cotangents, each multiplied by a coefficient of the
    Jacobian: the region's value where that cotangent is 1 and the others are 0.
    `fad.elementwise` operations that read no cotangent compute the coefficients,
    as they compute the derivatives that `fad-differentiate` makes, so
    `fad-select-residuals` chooses between the coefficients and their operands.
    Other values that only backward reads, and that depend on no cotangent, take
    the same form.

    A region stays as it is where it reads its coefficients already, or where the
    coefficients would take more bytes than their operands. A zero that the region
    selects stays zero for every cotangent. Coefficients of f16 and bf16 are
    computed in f32 and rounded once.

    An operation that is not known to be linear in the cotangents is an error. A
    gradient that depends on no cotangent and is not zero is one, too.

    A coefficient is the product of all factors of its region, by which rounding
    differs from a product of the cotangent with one factor after the other. With
    `reassociate=never`, each operation is a region of its own, and gradients keep
    their bits. With `reassociate=in-range`, regions end where a cotangent is f16: a
    product of factors in f16 may overflow, or become zero, where the gradient does
    not.
  }];
  let options = [
    Option<"reassociate", "reassociate", "FAD_OPTION(::mlir::fad::Reassociation)",
           /*default=*/"::mlir::fad::Reassociation::always",
           "Which factors of several operations are multiplied before the cotangent",
           [{::llvm::cl::values(
               clEnumValN(::mlir::fad::Reassociation::never, "never",
                          "Each operation is a region of its own; gradients keep their bits"),
               clEnumValN(::mlir::fad::Reassociation::inRange, "in-range",
                          "All but factors of cotangents of f16, whose product may overflow or "
                          "become zero where the gradient does not"),
               clEnumValN(::mlir::fad::Reassociation::always, "always",
                          "All factors of a region"))}]>
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FadSelectResiduals : FadPass<"fad-select-residuals", "::mlir::func::FuncOp"> {
  let summary = "Choose the values that cross from forward to backward";
  let description = !strconcat([{
    This pass works on joint functions (some argument has `fad.cotangent`) and
    leaves others alone. Each value of the forward part that the backward part reads
    goes through `fad.residual`. The option `policy` selects these values:

    - `bp`: the operands and results that the adjoint of each operation reads, as a
      tape saves them;
    - `recompute`: the source of each elementwise region; backward computes the
      region again;
    - `fad`: one derivative for each result of a region;
    - `auto` (default): the values of the fewest bytes, and among choices of equal
      bytes those of the least estimated time, by a minimum cut between the values
      that forward computes and those that backward reads. All values of the forward
      part are candidates, derivatives included. Backward computes the others again,
      as far as `recompute` allows: `nothing`; `elementwise` operations, broadcasts
      and tensor slices; also `reductions`; `all` but contractions and operations
      with side effects; or `contractions`, too. Given a `residual-budget`, `auto`
      takes the least time within that many bytes instead. It takes the selection of
      another policy where that has fewer bytes. Given a `peak-budget`, it takes the
      least time among selections with which forward and backward, by an estimate,
      never take more than that many bytes at once, arguments not counted: results,
      gradients, residuals, and the result of each operation up to its last reader.

    Constants, shapes, views (transposes, reshapes, broadcasts, borders), and values
    that depend on positions and scalars alone, such as a mask that is drawn from a
    seed, are always computed again. So are tensor slices of live values. Arguments
    and results of the function are live during the whole step and cost nothing.

    Derivatives are exact unless one of two options of `auto` is set.
    `derivative-bits` lets it round a derivative that is bounded on all numbers and
    has limits on either side (that of any smooth activation, of no periodic or
    growing function) to that many bits an element. The levels minimize the
    mean-square error over arguments that follow the standard logistic distribution;
    from two bits on, the limits are among the levels. `derivative-from-output` lets
    it compute the derivative of an activation that has one minimum (GELU, SiLU,
    Mish) by polynomials from the activation's result and one bit. The reason of the
    residual states the largest and the mean-square error.

    Under `recompute` and `fad`, values that are computed from one tensor, and from
    tensors of fewer elements, are computed again from that tensor where this saves
    bytes. For example, the input of a normalization is kept once, with its
    statistics, instead of several values computed from it. Under `fad` this holds
    for arithmetic only: no activation is computed again.

    Times are those of `target`, `cpu` (default) or `gpu`. `assumed-size`, 128 by
    default, stands for a size that is known only when the program runs.

    Under all policies but `auto`, values of `recompute`, `derivative-bits`,
    `derivative-from-output`, `residual-budget` and `peak-budget` other than the
    defaults are errors.
  }], selectionOptions);
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numCandidates", "num-candidates", "Values among which a minimum cut chooses">,
    Statistic<"numEdges", "num-edges", "Edges of the network of the cut">,
    Statistic<"numResiduals", "num-residuals", "Values that backward reads">,
    Statistic<"keptBytes", "kept-bytes", "Bytes that cross to backward">
  ];
}

def FadSplit : FadPass<"fad-split", "::mlir::ModuleOp"> {
  let summary = "Split joint functions at their residuals";
  let description = [{
    Replaces `@f_joint`, after `fad-select-residuals`, by
    `@f_forward(args) -> (results, residuals)` and
    `@f_backward(residuals, cotangents) -> gradients`. The attribute `fad.pullback` of
    the first names the second.

    With `reuse-residuals`, backward owns its residuals and may overwrite and free
    them: residuals that are neither arguments nor results of the primal function,
    and no other residual as well, get the attribute `fad.owned`.
  }];
  let options = [
    Option<"reuseResiduals", "reuse-residuals", "FAD_OPTION(bool)", /*default=*/"false",
           "Let backward overwrite and free residuals">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect", "::mlir::func::FuncDialect"];
}

def FadShortenLifetimes : FadPass<"fad-shorten-lifetimes", "::mlir::func::FuncOp"> {
  let summary = "Order forward and backward to shorten lifetimes";
  let description = [{
    In a backward function, operations that depend on no cotangent, or on no more
    of one than its size, move from the beginning of the function to their first
    reader. These are the operations that `fad-select-residuals` repeats. In a
    forward function, operations that only residuals need, such as derivatives and
    `fad.pack`, move up to the last other reader of the first of their operand
    tensors that dies. So tensors have shorter lifetimes,
    and results of the same size can overwrite dead operands.

    Operations with side effects stay in place. Functions of several blocks stay as
    they are.
  }];
  let dependentDialects = ["::mlir::fad::FadDialect"];
}

def FadRematerialize : FadPass<"fad-rematerialize", "::mlir::ModuleOp"> {
  let summary = "Repeat computations to lower the peak memory of backward";
  let description = [{
    In each pair of a function with `fad.pullback`, forward, and the function that the
    attribute names, backward, the pass finds the operation of backward during which
    the most bytes are live. A tensor that is live there, but
    not read, is computed again before its next reader, if that takes a few
    elementwise operations (or `fad.unpack`) whose operands are live at that reader
    or take at most three quarters of the tensor's bytes. The pass repeats this
    while the peak gets lower. It computes nothing more than twice, and changes
    nothing where it gains less than 1/64 of the peak.

    A chain of residual connections is the main case: the first adjoint that reads
    the end of the chain computes all of the chain from its beginning, and an
    adjoint of each part reads that part again much later.

    Repeated operations have the attribute `rematerialized`, so that no pass merges
    them with equal operations. Functions of several blocks stay as they are.
  }];
  let options = [
    Option<"assumedSize", "assumed-size", "FAD_OPTION(int64_t)", /*default=*/"128",
           "the size that dynamic dimensions are taken to have">
  ];
  let dependentDialects = ["::mlir::fad::FadDialect"];
}

def FadFuse : FadPass<"fad-fuse", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise operations";
  let description = [{
    Merges `fad.elementwise` operations that read the same tensors into one with
    several results (a value and its derivative), and each into its only consumer
    (the multiply and accumulate of backward).

    Only neighbors are fused: across a contraction, fusion would extend the
    lifetimes of tensors. A fused operation has at most 16 tensors.

    Joint functions stay as they are: forward and backward are still one function,
    and `fad-select-residuals` separates them operation by operation.
  }];
  let dependentDialects = ["::mlir::fad::FadDialect"];
  let statistics = [
    Statistic<"numProducers", "num-producers", "Producers fused into their readers">,
    Statistic<"numSiblings", "num-siblings", "Readers of the same tensors fused">,
    Statistic<"numRefused", "num-refused", "Operations that stay apart">
  ];
}

#endif // FAD_TRANSFORMS_PASSES_TD
