//===- FadOps.td - Operations of the fad dialect -----------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_IR_FADOPS_TD
#define FAD_IR_FADOPS_TD

include "fad/IR/FadAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Elementwise regions
//===----------------------------------------------------------------------===//

def Fad_ElementwiseOp : Op<Fad_Dialect, "elementwise", [
    IsolatedFromAbove, RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "an elementwise subgraph with a scalar body";
  let description = [{
    Applies the body once to every index. Each tensor operand passes the element at
    that index to the body; each scalar operand passes its value. Each result
    collects the values that the body yields.

    All tensor operands and results have one shape; there is at least one
    tensor operand. The body has no side effects. A single-source subgraph is an
    `fad.elementwise` with one tensor operand; a fused value and derivative is
    one with two results.

    ```mlir
    %y, %d = fad.elementwise ins(%x : tensor<?x8xf32>)
        -> tensor<?x8xf32>, tensor<?x8xf32> {
    ^bb0(%in: f32):
      %two = arith.constant 2.0 : f32
      %sq = arith.mulf %in, %in : f32
      %dsq = arith.mulf %two, %in : f32
      fad.yield %sq, %dsq : f32, f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` attr-dict-with-keyword
    `->` type($outputs) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    // Builds the op around `buildBody`, which takes the block's arguments and
    // returns the values to yield. The results take their shape from the first
    // tensor operand and their element types from these values.
    OpBuilder<(ins "::mlir::ValueRange":$inputs,
      "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$buildBody)>,
    // Builds the op with an empty body block.
    OpBuilder<(ins "::mlir::TypeRange":$resultTypes, "::mlir::ValueRange":$inputs)>
  ];
  let extraClassDeclaration = [{
    /// The scalar body.
    Block *getBodyBlock() { return &getBody().front(); }
    YieldOp getYield();
    /// The block argument that stands for operand `index`.
    BlockArgument getBodyArgument(unsigned index) {
      return getBodyBlock()->getArgument(index);
    }
    /// The first operand that is a tensor; results take their shape from it.
    Value getShapeOperand();
    /// True when exactly one operand is a tensor.
    bool hasSingleSource();
  }];
}

def Fad_YieldOp : Op<Fad_Dialect, "yield", [
    Pure, ReturnLike, Terminator, HasParent<"ElementwiseOp">]> {
  let summary = "ends the body of fad.elementwise";
  let description = [{
    Yields one scalar for each result of the enclosing `fad.elementwise`.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ValueRange{}); }]>];
}

//===----------------------------------------------------------------------===//
// Residuals
//===----------------------------------------------------------------------===//

def Fad_ErrorAttr : ConfinedAttr<F64Attr, [AttrConstraint<
    CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getValue().isFinite() && "
          "!::llvm::cast<::mlir::FloatAttr>($_self).getValue().isNegative()">,
    "that is finite and not negative">]>;

def Fad_ResidualOp : Op<Fad_Dialect, "residual", [
    Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a value that crosses from forward to backward";
  let description = [{
    The identity, placed by `fad-select-residuals` between the forward and the
    backward part of a joint function. `fad-split` turns it into a result of the
    forward function and an argument of the backward function.

    For `fad-memory-report`, `needed_by` names the primal operations whose adjoints
    read the value, and `reason` is the rule that keeps it. If backward computes an
    approximate derivative from the value, `largest_error` and `mean_square_error`
    are the errors of this derivative.

    A residual is in the memory of the device that computes it, unless it is `on host`,
    the memory of the host: forward copies it there, and backward copies it back. No
    pass selects a host yet, and a residual there has no lowering.

    ```mlir
    %r = fad.residual %d needed_by ["fad.gelu"] reason "derivative" : tensor<?x3072xf32>
    ```
  }];
  let arguments = (ins
    AnyType:$value,
    StrArrayAttr:$needed_by,
    StrAttr:$reason,
    OptionalAttr<Fad_ErrorAttr>:$largest_error,
    OptionalAttr<Fad_ErrorAttr>:$mean_square_error,
    DefaultValuedOptionalAttr<Fad_PlaceAttr, "::mlir::fad::Place::device">:$place
  );
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $value (`on` $place^)? `needed_by` $needed_by `reason` $reason attr-dict `:` type($result)
  }];
  let extraClassDeclaration = [{
    /// Fails, with an error, unless the residual is on the device: nothing lowers
    /// another.
    ::llvm::LogicalResult verifyHasLowering();
  }];
}

def Fad_AlternativesOp : Op<Fad_Dialect, "alternatives", [
    Pure, SameOperandsAndResultType]> {
  let summary = "one value, computed in different ways";
  let description = [{
    Its operands are equal, except for rounding: for example, a derivative computed
    from the source of a region and the same derivative computed from its result.
    Any of them may replace the result. Under the policy `auto`,
    `fad-select-residuals` picks the operand that is cheapest for backward;
    otherwise it picks the first, as `fad-to-linalg` does.

    ```mlir
    %d = fad.alternatives %from_source, %from_result : tensor<?x3072xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$values attr-dict `:` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

def Fad_FloatTensor : Type<RankedTensorOf<[Fad_Float]>.predicate,
    "a ranked tensor of f16, bf16, f32 or f64", "::mlir::RankedTensorType">;
def Fad_IndexTensor : Type<
    RankedTensorOf<[I8, I16, I32, I64, Index]>.predicate,
    "a ranked tensor of i8, i16, i32, i64 or index", "::mlir::RankedTensorType">;

def Fad_ScatterAddOp : Op<Fad_Dialect, "scatter_add", [
    Pure, DestinationStyleOpInterface, AllTypesMatch<["init", "result"]>,
    AllElementTypesMatch<["updates", "init"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "adds slices to a tensor at computed indices";
  let description = [{
    The adjoint of reading a tensor at computed indices. The result is `init`, with
    each tensor slice of `updates` added at the place given by `indices`:

    ```
    result = init
    for p in shape of the indices:        # in row-major order
      result[indices[p]] += updates[p]
    ```

    `dims` lists the dimensions of `init` that the index tensors belong to, in
    increasing order. A tensor slice has the remaining dimensions of `init`. So the
    shape of `updates` is that of the indices, followed by these dimensions.

    Indices are signed and count from 0. An update for a place outside of `init` is
    left out. The sum of several updates for one place does not depend on the
    division of work between threads; with the default of `fad-to-linalg` they are
    added one after the other, in row-major order.

    ```mlir
    // The gradient of an embedding: rows of 16, of a table of 50.
    %r = fad.scatter_add %rows at (%words : tensor<4x6xi64>) dims [0]
        into %zeros : tensor<4x6x16xf32> -> tensor<50x16xf32>
    ```
  }];
  let arguments = (ins
    Fad_FloatTensor:$updates,
    Fad_FloatTensor:$init,
    Variadic<Fad_IndexTensor>:$indices,
    DenseI64ArrayAttr:$dims);
  let results = (outs Fad_FloatTensor:$result);
  let assemblyFormat = [{
    $updates `at` `(` ($indices^ `:` type($indices))? `)` `dims` $dims
    `into` $init attr-dict `:` type($updates) `->` type($init)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    /// The number of dimensions of the indices.
    int64_t getBatchRank() {
      return ::llvm::cast<::mlir::RankedTensorType>(getIndices().front().getType()).getRank();
    }
    /// The dimensions of `init` that a tensor slice has.
    SmallVector<int64_t> getSliceDims();
    /// Whether the types say that `updates` or `init` has no elements.
    bool addsNothing();
  }];
}

//===----------------------------------------------------------------------===//
// Few-bit numbers
//===----------------------------------------------------------------------===//

def Fad_CodeTensor : Type<RankedTensorOf<[I8]>.predicate,
    "a ranked tensor of i8", "::mlir::RankedTensorType">;
def Fad_ByteTensor : Type<
    And<[RankedTensorOf<[I8]>.predicate, HasAnyRankOfPred<[1]>]>,
    "a tensor of i8 of rank 1", "::mlir::RankedTensorType">;

class Fad_PackingOp<string mnemonic, list<Trait> traits = []>
    : Op<Fad_Dialect, mnemonic, [Pure,
         DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]
         # traits> {
  let hasVerifier = 1;
}

def Fad_PackOp : Fad_PackingOp<"pack"> {
  let summary = "writes few-bit numbers side by side into bytes";
  let description = [{
      Keeps the lowest `bits` (1 to 8) bits of each element of `codes`, in row-major
    order and without gaps: the first element takes the lowest bits of the first byte,
    and so on. A number of 3, 5, 6 or 7 bits may begin in one byte and end in the
    next. Zeros pad the last byte. The result has `ceil(n * bits / 8)` bytes for `n`
  elements.

    ```mlir
    %bytes = fad.pack %codes bits 1 : tensor<4x9xi8> -> tensor<5xi8>
    ```
  }];
  let arguments = (ins Fad_CodeTensor:$codes, I64Attr:$bits);
  let results = (outs Fad_ByteTensor:$bytes);
  let assemblyFormat = [{
    $codes `bits` $bits attr-dict `:` type($codes) `->` type($bytes)
  }];
}

def Fad_UnpackOp : Fad_PackingOp<"unpack"> {
  let summary = "reads few-bit numbers from the bytes that hold them";
  let description = [{
    The inverse of `fad.pack`: each element of the result is an unsigned number of
    `bits` bits. `sizes` are those of the result's dynamic dimensions.

    ```mlir
    %codes = fad.unpack %bytes bits 1 : tensor<5xi8> -> tensor<4x9xi8>
    %some = fad.unpack %few bits 2 sizes(%n) : tensor<?xi8> -> tensor<?x3xi8>
    ```
  }];
  let arguments = (ins Fad_ByteTensor:$bytes, Variadic<Index>:$sizes, I64Attr:$bits);
  let results = (outs Fad_CodeTensor:$codes);
  let assemblyFormat = [{
    $bytes `bits` $bits (`sizes` `(` $sizes^ `)`)? attr-dict
    `:` type($bytes) `->` type($codes)
  }];
}

//===----------------------------------------------------------------------===//
// Operations of other frameworks
//===----------------------------------------------------------------------===//

def Fad_OpaqueOp : Op<Fad_Dialect, "opaque", [Pure]> {
  let summary = "an operation of another framework, known by its costs";
  let description = [{
    Stands for an operation of a framework that keeps the program and asks fad only for
    the residuals: `fad-select-residuals` needs its operands, the types of its results,
    its kind and its time. It has neither a derivative nor a lowering.

    `kind` is what backward may do to have its results without a residual:

    - `keep`: nothing, because a repetition has other effects or other results (random
      numbers, collectives), or is not known to be right;
    - `view`: take the view again; the results share the memory of the first operand,
      and are no residuals;
    - `elementwise`, `reduction`: repeat it, at the level of that name of the option
      `recompute`; an elementwise operation fuses with its readers, and its time is
      that of its arithmetic alone;
    - `contraction`: repeat it, at the level `contractions`;
    - `repeat`: repeat it, at every level, as a checkpoint demands; its results are no
      residuals. An operation that stands between two of this kind is not repeated.

    `time` is that of one execution without reading operands and writing results, in
    units of the time that moving an eighth of a byte between memory and processor
    takes. In a joint function, its results are linear in the cotangents if an operand
    is; coefficients are not extracted through it.

    ```mlir
    %y = fad.opaque "aten.mm" contraction time 8192 (%x, %w)
        : (tensor<32x64xf32>, tensor<64x8xf32>) -> tensor<32x8xf32>
    ```
  }];
  let arguments = (ins
    Variadic<AnyType>:$operands,
    StrAttr:$name,
    Fad_OpaqueKindAttr:$kind,
    ConfinedAttr<DefaultValuedAttr<I64Attr, "0">, [IntNonNegative]>:$time);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $name `` $kind (`time` $time^)? ` ` `(` $operands `)` attr-dict
    `:` functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

#endif // FAD_IR_FADOPS_TD
