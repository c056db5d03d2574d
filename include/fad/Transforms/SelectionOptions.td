//===- SelectionOptions.td - Options of selections ---------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_SELECTIONOPTIONS_TD
#define FAD_TRANSFORMS_SELECTIONOPTIONS_TD

include "mlir/Pass/PassBase.td"

// Options of passes that derive from `WithSelectionOptions`
// (SelectionOptions.h), for the generated reference.
defvar selectionOptions = [{

    Options of a selection:

    - `policy` (`auto`): what crosses from forward to backward: `bp`, `recompute`,
      `fad` or `auto`;
    - `recompute` (`elementwise`): what backward may compute again under `auto`:
      `nothing`, `elementwise`, `reductions`, `all` or `contractions`;
    - `target` (`cpu`): the machine whose times decide between equal bytes, `cpu` or
      `gpu`;
    - `assumed-size` (128): what `auto` takes for a size that is known only when the
      program runs;
    - `derivative-bits` (0): bits an element that `auto` may round bounded derivatives
      to, 1 to 8; 0: derivatives are exact;
    - `derivative-from-output` (false): lets `auto` compute the derivative of an
      activation with one minimum approximately, from the result and one bit;
    - `residual-budget` (-1): bytes, such as `50MB` or `64KiB`, that residuals may take
      under `auto`, which takes the least time within them; -1: the fewest bytes;
    - `peak-budget` (-1): bytes that forward and backward may take at once besides
      arguments under `auto`, which takes the least time within them; -1: no limit.
  }];

// The function to differentiate.
defvar requestOptions = [
  Option<"entry", "entry", "std::string", /*default=*/"",
         "Function to differentiate; default: the only one with fad.request, or else "
         "the only public function with a body">,
  ListOption<"wrt", "wrt", "FAD_OPTION(int64_t)",
         "Arguments to differentiate with respect to; default: every floating-point tensor">,
  ListOption<"results", "results", "FAD_OPTION(int64_t)",
         "Results to differentiate, each of which gets a cotangent; default: every one of "
         "floating point">
];

#endif // FAD_TRANSFORMS_SELECTIONOPTIONS_TD
