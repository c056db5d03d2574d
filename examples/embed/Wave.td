//===- Wave.td - A dialect that fad does not know ----------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EMBED_WAVE_TD
#define EMBED_WAVE_TD

include "fad/Interfaces/DerivativeOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Wave_Dialect : Dialect {
  let name = "wave";
  let cppNamespace = "::wave";
  let summary = "Activations with waves";
}

// Elementwise operations without effects can be part of fad's regions.
class Wave_Op<string mnemonic, list<Trait> traits = []>
    : Op<Wave_Dialect, mnemonic,
         traits # [Pure, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let results = (outs FloatLike:$result);
}

def Wave_SnakeOp : Wave_Op<"snake"> {
  let summary = "x + sin(frequency * x)^2 / frequency";
  let arguments = (ins FloatLike:$operand, F64Attr:$frequency);
  let assemblyFormat = "$operand `frequency` `(` $frequency `)` attr-dict `:` type($result)";
}

// An operation that states its derivative itself.
def Wave_ChirpOp : Wave_Op<"chirp", [
    DeclareOpInterfaceMethods<Fad_DerivativeOpInterface>]> {
  let summary = "sin(x * x)";
  let arguments = (ins FloatLike:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

#endif // EMBED_WAVE_TD
