//===- TestRulesOps.td - Operations of a third party -------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#ifndef FAD_TEST_TESTRULESOPS_TD
#define FAD_TEST_TESTRULESOPS_TD

include "fad/Interfaces/AdjointOpInterface.td"
include "fad/Interfaces/DerivativeOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TestRules_Dialect : Dialect {
  let name = "test_rules";
  let cppNamespace = "::mlir::fad::test";
  let summary = "Operations of a dialect that fad does not know";
}

class TestRules_Op<string mnemonic, list<Trait> traits = []>
    : Op<TestRules_Dialect, mnemonic, traits # [SameOperandsAndResultType]> {
  let results = (outs FloatLike:$result);
}

class TestRules_UnaryOp<string mnemonic, list<Trait> traits = []>
    : TestRules_Op<mnemonic, traits> {
  let arguments = (ins FloatLike:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

// An operation that implements the interface itself.
def TestRules_CubeOp : TestRules_UnaryOp<"cube", [
    Pure, DeclareOpInterfaceMethods<Fad_DerivativeOpInterface>]
    # ElementwiseMappable.traits> {
  let summary = "x * x * x";
}

// An operation whose rule is attached from outside.
def TestRules_HypotOp
    : TestRules_Op<"hypot", [Pure] # ElementwiseMappable.traits> {
  let summary = "sqrt(a * a + b * b)";
  let arguments = (ins FloatLike:$lhs, FloatLike:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

// Integrals of tanh, sigmoid and erf.
class TestRules_Integral<string mnemonic, string formula>
    : TestRules_UnaryOp<mnemonic, [Pure] # ElementwiseMappable.traits> {
  let summary = formula;
}
def TestRules_LogCoshOp : TestRules_Integral<"log_cosh", "log(cosh(x))">;
def TestRules_LogOnePlusExpOp
    : TestRules_Integral<"log_one_plus_exp", "log(1 + exp(x))">;
def TestRules_IntegralOfErfOp
    : TestRules_Integral<"integral_of_erf", "x * erf(x) + exp(-x * x) / sqrt(pi)">;

def TestRules_NoRuleOp
    : TestRules_UnaryOp<"no_rule", [Pure] # ElementwiseMappable.traits> {
  let summary = "an operation without a derivative rule";
}

def TestRules_ImpureOp : TestRules_UnaryOp<"impure"> {
  let summary = "an operation with side effects";
}

// An operation with a region, whose adjoint computes the region again.
def TestRules_CheckpointOp : Op<TestRules_Dialect, "checkpoint", [
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>,
    DeclareOpInterfaceMethods<Fad_AdjointOpInterface, ["buildAdjoint"]>]> {
  let summary = "a region that is run once";
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results) $body";
  let hasCanonicalizeMethod = 1;
}

def TestRules_YieldOp : Op<TestRules_Dialect, "yield", [
    Pure, ReturnLike, Terminator, HasParent<"CheckpointOp">]> {
  let summary = "the end of a region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

#endif // FAD_TEST_TESTRULESOPS_TD
