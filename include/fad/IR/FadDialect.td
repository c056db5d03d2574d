//===- FadDialect.td - The fad dialect ---------------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_IR_FADDIALECT_TD
#define FAD_IR_FADDIALECT_TD

include "mlir/IR/DialectBase.td"

def Fad_Dialect : Dialect {
  let name = "fad";
  let cppNamespace = "::mlir::fad";
  let summary = "Forward-mode differentiation of elementwise regions";
  let description = [{
    The `fad` dialect has the operations that nested forward-mode automatic
    differentiation needs and that the upstream dialects lack:

    - *activation primitives* (`fad.sigmoid`, `fad.gelu`, ...): functions whose
      value and derivative have a numerically stable form that a chain of
      `arith` and `math` operations does not state;
    - `fad.elementwise`: a subgraph that maps tensors to tensors of the same
      shape, element by element, as one operation;
    - `fad.residual`: a value that crosses from the forward function to the backward
      function.

    Discardable attributes:

    | attribute | on | meaning |
    |---|---|---|
    | `fad.request` | a function | `#fad.request<...>`: differentiate this function |
    | `fad.pullback = @f` | a function | forward of a pair whose backward is `@f` |
    | `fad.cotangent = i` | an argument | the cotangent of result `i` of the primal function |
    | `fad.gradient = i` | a result | the gradient with respect to argument `i` |
    | `fad.residual` | an argument or result | crosses from forward to backward |
    | `fad.owned` | an argument | a tensor that belongs to the function, which may overwrite it and frees it |
    | `fad.class` | an operation | `#fad.class<fad>` or `#fad.class<nfad>` (inspection) |
    | `fad.region` | an operation | the number of its single-source subgraph (inspection) |
    | `fad.tape` | a scalar operation | its results were tensors in the program as written, so a tape could have saved them |
    | `fad.shares_ties` | `arith.maximumf`, `arith.minimumf` | equal operands share the derivative, also where `fad-raise` knows a function that has another one |
    | `fad.adjoint_of` | an operation | names the primal operation that this operation is the adjoint of |
    | `fad.nodes` | an operation or an argument | the names of its results, or of it, in the graph of another framework |
    | `fad.fuses` | a function | `#fad.fusion<...>`: the framework that executes it fuses elementwise operations with their readers |
    | `fad.fuses` | an operation | the framework fuses that operation, too |
    | `fad.proposals` | a function | selections of residuals by that framework, each a list of names of nodes |
    | `fad.overwrites` | an operation | there, its result may take the memory of an operand that nothing reads later, and the first one, if elementwise, is computed there |
    | `fad.materializes` | an operation | there, its operands are in memory |
    | `fad.scratch` | an operation | the bytes that its kernel takes for itself while it runs |
    | `fad.kernel` | `fad.elementwise` | the GPU kernel that computes it |
    | `fad.block_size` | `fad.elementwise` | threads in a block of that kernel |
    | `fad.tile_size` | `fad.elementwise` | elements that a block of that kernel computes |
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];

  let extraClassDeclaration = [{
    /// Names of the discardable attributes above.
    static constexpr ::llvm::StringLiteral kRequestAttr = "fad.request";
    static constexpr ::llvm::StringLiteral kPullbackAttr = "fad.pullback";
    static constexpr ::llvm::StringLiteral kCotangentAttr = "fad.cotangent";
    static constexpr ::llvm::StringLiteral kGradientAttr = "fad.gradient";
    static constexpr ::llvm::StringLiteral kResidualAttr = "fad.residual";
    static constexpr ::llvm::StringLiteral kOwnedAttr = "fad.owned";
    static constexpr ::llvm::StringLiteral kClassAttr = "fad.class";
    static constexpr ::llvm::StringLiteral kRegionAttr = "fad.region";
    static constexpr ::llvm::StringLiteral kTapeAttr = "fad.tape";
    static constexpr ::llvm::StringLiteral kSharesTiesAttr = "fad.shares_ties";
    static constexpr ::llvm::StringLiteral kAdjointOfAttr = "fad.adjoint_of";
    static constexpr ::llvm::StringLiteral kNodesAttr = "fad.nodes";
    static constexpr ::llvm::StringLiteral kFusesAttr = "fad.fuses";
    static constexpr ::llvm::StringLiteral kProposalsAttr = "fad.proposals";
    static constexpr ::llvm::StringLiteral kOverwritesAttr = "fad.overwrites";
    static constexpr ::llvm::StringLiteral kMaterializesAttr = "fad.materializes";
    static constexpr ::llvm::StringLiteral kScratchAttr = "fad.scratch";
    static constexpr ::llvm::StringLiteral kKernelAttr = "fad.kernel";
    static constexpr ::llvm::StringLiteral kBlockSizeAttr = "fad.block_size";
    static constexpr ::llvm::StringLiteral kTileSizeAttr = "fad.tile_size";
    /// On an operation that `fad-rematerialize` repeats, so that CSE does not
    /// merge it with the original. The name has no dialect, since the attribute
    /// outlives the lowering of the dialect.
    static constexpr ::llvm::StringLiteral kRematerializedAttr = "rematerialized";
  }];
}

#endif // FAD_IR_FADDIALECT_TD
