//===- FadAttributes.td - Attributes of the fad dialect ----*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_IR_FADATTRIBUTES_TD
#define FAD_IR_FADATTRIBUTES_TD

include "fad/IR/FadDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

// The element types that have a tangent.
def Fad_Float : AnyTypeOf<[F16, BF16, F32, F64]>;

// The rule that selects the values that cross from forward to backward.
def Fad_Policy : I32EnumAttr<"Policy", "what crosses from forward to backward", [
    I32EnumAttrCase<"bp", 0, "bp">,
    I32EnumAttrCase<"recompute", 1, "recompute">,
    I32EnumAttrCase<"fad", 2, "fad">,
    I32EnumAttrCase<"automatic", 3, "auto">]> {
  let cppNamespace = "::mlir::fad";
  let genSpecializedAttr = 0;
}

// The operations that backward may repeat under the policy `auto`; each level
// includes those before it. Constants, shapes, views and values drawn from a
// seed are always computed again.
def Fad_RecomputeLevel : I32EnumAttr<"RecomputeLevel", "what backward may compute again", [
    I32EnumAttrCase<"nothing", 0, "nothing">,
    I32EnumAttrCase<"elementwise", 1, "elementwise">,
    I32EnumAttrCase<"reductions", 2, "reductions">,
    I32EnumAttrCase<"all", 3, "all">,
    I32EnumAttrCase<"contractions", 4, "contractions">]> {
  let cppNamespace = "::mlir::fad";
  let genSpecializedAttr = 0;
}

// Which factors of a cotangent may be multiplied with each other first, as a
// coefficient; rounding differs from that of a product with one factor after the
// other. `inRange` are those of cotangents whose type has the exponents of f32, or
// more: in f16, a product of factors may overflow, or become zero, where the gradient
// does not.
def Fad_Reassociation : I32EnumAttr<"Reassociation", "factors that are multiplied first", [
    I32EnumAttrCase<"never", 0, "never">,
    I32EnumAttrCase<"inRange", 1, "in-range">,
    I32EnumAttrCase<"always", 2, "always">]> {
  let cppNamespace = "::mlir::fad";
  let genSpecializedAttr = 0;
}

def Fad_PolicyAttr : EnumAttr<Fad_Dialect, Fad_Policy, "policy"> {
  let assemblyFormat = "`<` $value `>`";
}

// The class that fad-partition gives to each operation.
def Fad_OpClass : I32EnumAttr<"OpClass", "class of an operation", [
    I32EnumAttrCase<"fad", 0, "fad">,
    I32EnumAttrCase<"nfad", 1, "nfad">]> {
  let cppNamespace = "::mlir::fad";
  let genSpecializedAttr = 0;
}

def Fad_OpClassAttr : EnumAttr<Fad_Dialect, Fad_OpClass, "class"> {
  let assemblyFormat = "`<` $value `>`";
}

// Ways to have the results of an operation of another framework in backward.
def Fad_OpaqueKind : I32EnumAttr<"OpaqueKind", "what backward may do with an opaque operation", [
    I32EnumAttrCase<"keep", 0, "keep">,
    I32EnumAttrCase<"view", 1, "view">,
    I32EnumAttrCase<"elementwise", 2, "elementwise">,
    I32EnumAttrCase<"reduction", 3, "reduction">,
    I32EnumAttrCase<"contraction", 4, "contraction">,
    I32EnumAttrCase<"repeat", 5, "repeat">]> {
  let cppNamespace = "::mlir::fad";
  let genSpecializedAttr = 0;
}

def Fad_OpaqueKindAttr : EnumAttr<Fad_Dialect, Fad_OpaqueKind, "opaque_kind"> {
  let assemblyFormat = "$value";
}

// The memories in which a residual is between forward and backward.
def Fad_Place : I32EnumAttr<"Place", "memory that has a residual", [
    I32EnumAttrCase<"device", 0, "device">,
    I32EnumAttrCase<"host", 1, "host">]> {
  let cppNamespace = "::mlir::fad";
  let genSpecializedAttr = 0;
}

def Fad_PlaceAttr : EnumAttr<Fad_Dialect, Fad_Place, "place"> {
  let assemblyFormat = "$value";
}

// The formula of the GELU.
def Fad_GeluApproximation : I32EnumAttr<"GeluApproximation",
    "form of the Gaussian error linear unit", [
    I32EnumAttrCase<"none", 0, "none">,
    I32EnumAttrCase<"tanh", 1, "tanh">]> {
  let cppNamespace = "::mlir::fad";
  let genSpecializedAttr = 0;
}

def Fad_GeluApproximationAttr
    : EnumAttr<Fad_Dialect, Fad_GeluApproximation, "gelu_approximation"> {
  let assemblyFormat = "`<` $value `>`";
}

def Fad_RequestAttr : AttrDef<Fad_Dialect, "Request"> {
  let mnemonic = "request";
  let summary = "asks for a function to be differentiated";
  let description = [{
    A function has this attribute as `fad.request`. `wrt` lists the arguments to
    differentiate with respect to; without it, every argument that is a tensor of
    floating-point elements. `results` lists the results to differentiate, each of
    which gets a cotangent; without it, every result of floating-point elements.
    Options of a pass take precedence.

    ```mlir
    func.func @f(%x: tensor<4xf32>, %w: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>)
        attributes {fad.request = #fad.request<wrt = [0], results = [1]>}
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$wrt,
                        OptionalArrayRefParameter<"int64_t">:$results);
  let assemblyFormat = [{
    `<` struct(custom<Numbers>($wrt), custom<Numbers>($results)) `>`
  }];
}

def Fad_FusionAttr : AttrDef<Fad_Dialect, "Fusion"> {
  let mnemonic = "fusion";
  let summary = "says which values a compiler computes where they are read";
  let description = [{
    A joint function has this attribute as `fad.fuses` if the framework that executes it
    fuses elementwise operations. Each kernel that reads an elementwise value computes
    it, and the value has no buffer, unless its computation exceeds one of these limits,
    which are those of the framework. A limit that is left out is none.

    - `reads`: buffers that it reads;
    - `operations`: scalar operations;
    - `shared_reads`: buffers that it reads, if several operations read the value;
    - `shared_operations`: scalar operations, if several operations read the value, if one
      that broadcasts it does, or if the computation reads several buffers.

    Nor do several kernels, or one that broadcasts the value, compute it if one of the
    operations that `once` names is part of the computation.

    The kernel of backward that computes the rows of a batch has their sums, too, if an
    element of the batch has `split_rows` rows or more and there are at least `split_sums`
    sums; without either, never.

    ```mlir
    func.func @joint(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
        -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64})
        attributes {fad.fuses = #fad.fusion<reads = 12, shared_reads = 4, once = ["math.exp"]>}
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "kNoLimit">:$reads,
    DefaultValuedParameter<"int64_t", "kNoLimit">:$operations,
    DefaultValuedParameter<"int64_t", "kNoLimit">:$shared_reads,
    DefaultValuedParameter<"int64_t", "kNoLimit">:$shared_operations,
    DefaultValuedParameter<"int64_t", "kNoLimit">:$split_rows,
    DefaultValuedParameter<"int64_t", "kNoLimit">:$split_sums,
    OptionalParameter<"::mlir::ArrayAttr">:$once);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
    /// Whether several kernels may compute the results of `op`.
    bool isShared(::mlir::Operation *op) const;
  }];
}

#endif // FAD_IR_FADATTRIBUTES_TD
