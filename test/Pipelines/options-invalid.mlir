// The reason why the value of an option is wrong is in the diagnostic, not before it.
// RUN: not fad-opt %s --fad-nest=policy=foo 2>&1 | FileCheck %s --check-prefix=POLICY --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --fad-differentiate=wrt=0,x 2>&1 | FileCheck %s --check-prefix=LIST --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --fad-check-calls=limit=-1 2>&1 | FileCheck %s --check-prefix=LIMIT --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --fad-to-cpu=vector-bits=x 2>&1 | FileCheck %s --check-prefix=BITS --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --fad-differentiate=derivatives-from=x 2>&1 | FileCheck %s --check-prefix=FORM --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --pass-pipeline='builtin.module(fad-select-residuals{residual-budget=8gigs})' 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not fad-opt %s --fad-nest=policy=Recompte 2>&1 | FileCheck %s --check-prefix=NEAR --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --fad-nest=target=tpu 2>&1 | FileCheck %s --check-prefix=TWO --match-full-lines --implicit-check-not=error
// POLICY:<unknown>:0: error: policy: 'foo' is none of its values: bp, recompute, fad, auto
// LIST:<unknown>:0: error: wrt: 'x' is no integer
// LIMIT:<unknown>:0: error: limit: '-1' is no integer from 0 on
// BITS:<unknown>:0: error: vector-bits: 'x' is no integer
// FORM:<unknown>:0: error: derivatives-from: 'x' is none of its values: operands, results, both
// BYTES: error: residual-budget: the value is '8gigs', which is no number of bytes; the units are B, KB, MB, GB, TB, KiB, MiB, GiB and TiB

// A name that is nearly one of them; none is proposed where two are equally near.
// NEAR:<unknown>:0: error: policy: 'Recompte' is none of its values: bp, recompute, fad, auto; did you mean 'recompute'?
// TWO:<unknown>:0: error: target: 'tpu' is none of its values: cpu, gpu

// Names of options: of pipelines, one of which has none, and of passes.
// RUN: not fad-opt %s --fad-nest=polcy=fad 2>&1 | FileCheck %s --check-prefix=NAME --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --fad-to-iree=policy=fad 2>&1 | FileCheck %s --check-prefix=NONE --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --fad-differentiate=result=0 2>&1 | FileCheck %s --check-prefix=PASS --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --fad-im2col=size=0 2>&1 | FileCheck %s --check-prefix=OTHERS --match-full-lines --implicit-check-not=error
// RUN: not fad-opt %s --pass-pipeline='builtin.module(fad-differentiate{wr=0})' 2>&1 | FileCheck %s --check-prefix=TEXT
// NAME:<unknown>:0: error: there is no option 'polcy'; did you mean 'policy'?
// NONE:<unknown>:0: error: there is no option 'policy'; there are none
// PASS:<unknown>:0: error: there is no option 'result'; did you mean 'results'?
// OTHERS:<unknown>:0: error: there is no option 'size'; the options are min-products, named, types
// TEXT: error: there is no option 'wr'; did you mean 'wrt'?

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
