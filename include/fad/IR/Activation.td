//===- Activation.td - The parts of an activation ----------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_IR_ACTIVATION_TD
#define FAD_IR_ACTIVATION_TD

include "fad/IR/FadAttributes.td"
include "fad/Interfaces/ActivationOpInterface.td"
include "fad/Interfaces/DerivativeOpInterface.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/Dialect/Arith/IR/ArithOpsInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/VectorInterfaces.td"

def Fad_FloatLike : TypeConstraint<
    Or<[Fad_Float.predicate, VectorOfAnyRankOf<[Fad_Float]>.predicate,
        RankedTensorOf<[Fad_Float]>.predicate]>,
    "f16, bf16, f32 or f64, or a vector or ranked tensor of them">;

// A primitive that abbreviates a chain of simpler operations: a region of this
// primitive alone is differentiated as the chain.
def Fad_Composite : NativeOpTrait<"Composite"> {
  let cppNamespace = "::mlir::fad";
}

// An elementwise function of one operand, with all that is known about it. f16
// and bf16 are evaluated in f32 and rounded once. Each is a file of the folder
// Activations, which the build collects.
//
// Formulas are bodies of methods of the operation, so that they can ask for its
// attributes. They are written with fad::Expr; what several need is in
// fad/Interfaces/Formulas.h. A value and its derivative spell an exponential
// alike, so that CSE leaves one. Operands that emit operations have names: C++
// leaves the order of evaluation open.
class Fad_Activation<string mnemonic, list<Trait> traits = []>
    : Op<Fad_Dialect, mnemonic,
         [Pure, SameOperandsAndResultType,
          DeclareOpInterfaceMethods<VectorUnrollOpInterface>,
          DeclareOpInterfaceMethods<ArithFastMathInterface>,
          DeclareOpInterfaceMethods<Fad_ActivationOpInterface>,
          DeclareOpInterfaceMethods<Fad_DerivativeOpInterface, ["partialFromResult"]>]
         # ElementwiseMappable.traits # traits> {
  // Attributes besides the flags, and how they are written.
  dag parameters = (ins);
  string parameterFormat = "";

  // Functions that the formulas call.
  code helpers = "";
  // The value at `x`.
  code value;
  // The derivative at `x`. Comparisons are those of PyTorch, which decide what
  // becomes of NaN.
  code derivative;
  // The derivative where the value is `y`; null where that does not tell.
  code derivativeFromResult = "return {};";
  // Whether the operation is the identity.
  code isIdentity = "return false;";
  // The formulas that fad-raise recognizes, in the order in which they are tried:
  // a list of fad::raise::Spelling.
  code spellings;
  // The operation that takes most of the time: a case of ActivationTime.
  string time = "transcendental";
  // Whether a kernel on a GPU takes many registers.
  bit takesManyRegisters = 0;
  // The reference for measured accuracy (utils/activations.py): for each set of
  // attributes a name, the attributes, PyTorch's function, and value and
  // derivative in f64 as formulas of numpy that do not cancel.
  list<list<string>> references;

  let arguments = !con((ins Fad_FloatLike:$operand), parameters,
      (ins DefaultValuedAttr<Arith_FastMathAttr,
                             "::mlir::arith::FastMathFlags::none">:$fastmath));
  let results = (outs Fad_FloatLike:$result);
  let assemblyFormat = "$operand " # parameterFormat # [{
    (`fastmath` `` $fastmath^)? attr-dict `:` type($result)
  }];
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// Expressions that fad-raise replaces by this operation.
    static std::vector<::mlir::fad::raise::Spelling> getSpellings();
    ::mlir::fad::Expr getDerivativeAt(::mlir::fad::Expr x);
    bool isIdentity();
  }];
  let extraClassDefinition = helpers # [{
    Expr $cppClass::getValueAt(Expr x) {
  }] # value # [{
    }
    Expr $cppClass::getDerivativeAt(Expr x) {
  }] # derivative # [{
    }
    Expr $cppClass::partial(const Primal &at, unsigned, unsigned) {
      return getDerivativeAt(at.operands[0]);
    }
    Expr $cppClass::partialFromResult(const Primal &at, unsigned, unsigned) {
      [[maybe_unused]] Expr y = at.results[0];
  }] # derivativeFromResult # [{
    }
    bool $cppClass::isIdentity() {
  }] # isIdentity # [{
    }
    OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return isIdentity() ? OpFoldResult(getOperand()) : foldActivation(*this, adaptor.getOperands());
    }
    std::vector<raise::Spelling> $cppClass::getSpellings() {
      using namespace raise;
      Formula x = variable();
  }] # spellings # [{
    }
    ActivationTime $cppClass::getTime() {
      return ActivationTime::}] # time # [{;
    }
    bool $cppClass::takesManyRegisters() { return }] # !if(takesManyRegisters, "true", "false") # [{; }
  }];
}

#endif // FAD_IR_ACTIVATION_TD
