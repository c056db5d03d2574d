//===- Passes.td - Conversions out of the fad dialect ------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_PASSES_TD
#define FAD_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def FadExpandPrimitives : Pass<"fad-expand-primitives"> {
  let summary = "Expand activation primitives to arith and math";
  let description = [{
    Replaces each activation primitive by its numerically stable form in
    `arith` and `math`. f16 and bf16 are extended to f32 first and rounded
    once; fast-math flags are kept. A primitive on tensors becomes a
    `linalg.generic` with that form as its body.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def FadToLinalg : Pass<"fad-to-linalg"> {
  let summary = "Lower the fad dialect to linalg on tensors";
  let description = [{
    Replaces each `fad.elementwise` by one `linalg.generic` with the same body,
    removes `fad.residual` and the attributes of the dialect on operations, and
    expands the activation primitives. `tensor.gather` and `tensor.scatter`,
    which have no other lowering, become a `linalg.generic` and loops, and
    `scf.index_switch` on tensors, which upstream's bufferization takes wrongly,
    `scf.if`. What is left is upstream operations that any MLIR compiler takes. Functions keep the
    attributes of their arguments and results (`fad.gradient = 0`), which say
    what these are.

    `fad.scatter_add` becomes a loop over the updates that adds one slice after
    the other in place, which is best where loops run in place (`fad-to-cpu`).
    With `scatter-as-reductions` it becomes reductions with parallel loops, for
    compilers that run each operation on tensors as a kernel of its own (IREE):
    updates for the same place are summed by comparing their indices, either
    with every place or, where there are more places than updates, with each
    other.
  }];
  let options = [
    Option<"scatterAsReductions", "scatter-as-reductions", "bool",
           /*default=*/"false",
           "Write fad.scatter_add as reductions instead of as a loop">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FadToGPU : Pass<"fad-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Outline elementwise operations as GPU kernels";
  let description = [{
    Gives each `fad.elementwise` of the module, and each `linalg.generic` that is a
    loop over elements, a kernel in the `gpu.module` `@kernels` and names it in the
    operation's `fad.kernel`. The operation itself stays: whoever owns the buffers
    launches the kernel in its place, as `fad-launch-kernels` does.

    A kernel takes, in this order:

    | argument | for | form |
    |---|---|---|
    | inputs | each tensor operand | pointer to its elements, in row-major order and without gaps |
    | | each scalar operand | the scalar |
    | outputs | each result | pointer, as for a tensor operand |
    | count | | number of elements of a result, `i32`, up to 2^30 |
    | sizes | each repeated operand | as far as they are dynamic, `i32` |

    An operand of a `linalg.generic` may be repeated: a row, a column, a plane. The
    element that belongs to place `i` of a result is at `(i / inner) % extent`, where
    `extent` is the number of its elements and `inner` how many neighbouring places
    have the same. What the body uses from outside follows the operands: scalars, and
    buffers that it reads at computed places, as `fad.unpack` does. A loop that
    combines up to 8 neighbouring elements to one, as `fad.pack` does, has a kernel as
    well, whose outputs are read first.

    An element of type `i1` takes one byte, 0 or 1; an `index` takes 8. Outputs do not
    overlap each other. There are three variants of a kernel:

    | name | pointers |
    |---|---|
    | that of `fad.kernel` | aligned to 16 bytes; no output overlaps an input |
    | with `_inplace` | aligned to 16 bytes; an output may be an input |
    | with `_unaligned` | aligned to their elements; an output may be an input |

    With repeated operands, the first two also take that the vectors of a thread do
    not cross the end of a row: its length, or `inner`, is a multiple of the lanes.

    A kernel is launched with `fad.block_size` threads in a block and
    ceil(count / `fad.tile_size`) blocks; both attributes are on the operation. Blocks
    beyond that find nothing to do. Each block computes one tile of `fad.tile_size`
    elements: in vectors of 16 bytes of the widest element type, neighbouring threads
    taking neighbouring vectors, or one element at a time where the tile is not full
    or the variant has no vectors. Offsets are computed in 32 bits.

    A `linalg.generic` that sums over its leading dimensions, as the gradient of a bias
    does, has two kernels, whose names end with `_partial` and `_total`. The first one
    sums some rows in each block; the second one adds these sums, in order, to what the
    output holds. So the result does not depend on the order in which blocks run.
    Numbers narrower than `f32` are summed in `f32`.

    The number of threads, the number of vectors that each of them loads, and the
    registers that it may have, are those that suit `chip`.

    ```mlir
    %y = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
    ^bb0(%in: f32):
      %sq = arith.mulf %in, %in : f32
      fad.yield %sq : f32
    }
    ```

    becomes

    ```mlir
    %y = fad.elementwise ins(%x : tensor<?xf32>)
        attributes {fad.block_size = 256 : i64, fad.kernel = @kernels::@f_0,
                    fad.tile_size = 2048 : i64} -> tensor<?xf32> {
      ...
    }
    gpu.module @kernels {
      gpu.func @f_0(%x: memref<1073741824xf32>,
                    %y: memref<1073741824xf32>, %count: i32) kernel
    ```

    where the size in the memref types only says that no buffer is longer: kernels
    take bare pointers.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "Architecture that the kernels are to suit">,
    Option<"blockSize", "block-size", "int64_t", /*default=*/"0",
           "Threads in a block, a multiple of 32 up to 1024; 0: what suits the chip">,
    Option<"accesses", "accesses", "int64_t", /*default=*/"0",
           "Vectors of each tensor that a thread loads, up to 8; 0: what suits the "
           "chip">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def FadLaunchKernels : Pass<"fad-launch-kernels", "::mlir::ModuleOp"> {
  let summary = "Replace loops on buffers by launches of their kernels";
  let description = [{
    Launches, in place of each `linalg.generic` on buffers that `fad-to-gpu` has given
    a kernel, the variant that suits its buffers: vectors where all are aligned to 16
    bytes and no vector crosses the end of a repeated row, and among those the one for
    outputs that are inputs where buffers overlap: then they are the same buffer, as
    bufferization makes them. Which one that is is decided when the program runs.
    Buffers with gaps are copied. More than `largest-launch` elements take several
    launches, each of which begins where repeated operands begin again; where they
    do not, within so many elements, an assertion fails.

    The buffers have to be where both the host and the device reach them.

    ```mlir
    linalg.generic {...} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
        attrs = {fad.block_size = 256 : i64, fad.kernel = @kernels::@f_0,
                 fad.tile_size = 2048 : i64} {...}
    ```

    becomes

    ```mlir
    scf.for %start = %c0 to %count step %part {
      ...
      scf.if %suits_vectors {
        scf.if %overlaps {
          gpu.launch_func @kernels::@f_0_inplace blocks in (%blocks, %c1, %c1)
              threads in (%c256, %c1, %c1)
              args(%x : memref<1073741824xf32>, %y : memref<1073741824xf32>,
                   %elements : i32)
        } else {
          gpu.launch_func @kernels::@f_0 ...
        }
      } else {
        gpu.launch_func @kernels::@f_0_unaligned ...
      }
    }
    ```
  }];
  let options = [
    Option<"largestLaunch", "largest-launch", "int64_t", /*default=*/"1073741824",
           "Elements that one launch computes at most, up to 2^30">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def FadMathToPTX : Pass<"fad-math-to-ptx", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower math operations for which PTX has instructions";
  let description = [{
    Upstream's `convert-gpu-to-nvvm` turns nearly every `math` operation into a
    call of NVIDIA's libdevice, which takes a CUDA toolkit to link. This pass
    goes before it and lowers, through upstream's patterns, the operations that
    need no library: absolute value, rounding, square root, fused
    multiply-add, copysign, maxnum and minnum, clamp, tests of NaN and infinity,
    and bit counts.

    It also gives `math.fpowi` the 32-bit exponent that libdevice takes, where
    the exponent is narrower, or constant and small enough. A rounding mode other than
    to the nearest, ties to even, is an error: LLVM would ignore it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def FadAttachNVVMTarget : Pass<"fad-attach-nvvm-target", "::mlir::ModuleOp"> {
  let summary = "Attach a checked NVVM target to each GPU module";
  let description = [{
    Upstream's `nvvm-attach-target`, for one target, with its options checked:
    an unknown chip or PTX version, or a version too old for the chip, is an
    error here and ends the process there. Without `features`, PTX has the
    lowest version that knows the chip, so that the oldest `ptxas` that knows
    it takes it.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "Architecture, sm_70 or newer">,
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "PTX version, such as +ptx80">
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def FadKernelsToBinary : Pass<"fad-kernels-to-binary", "::mlir::ModuleOp"> {
  let summary = "Compile GPU modules that need no more than libdevice";
  let description = [{
    Upstream's `gpu-module-to-binary` preceded by the checks that it leaves
    out. Each is an error at the operation concerned:

    - an operation without a lowering to NVVM;
    - a call of a function that is neither in the GPU module nor in libdevice,
      or of one in libdevice when there is no CUDA toolkit: upstream would emit
      PTX with an unresolved symbol.

    The toolkit is the option `toolkit`; without it, the first of these that
    has `nvvm/libdevice/libdevice.10.bc`: the environment variables `CUDA_HOME`
    and `CUDA_PATH`, `/usr/local/cuda*`, `/usr/lib/cuda`, `/opt/cuda`, the
    directory above that of an `nvcc` on the `PATH`, and what the PyPI packages
    `nvidia-nvvm` (CUDA 13) and `nvidia-cuda-nvcc-cu12` put into the packages of
    the `python3` on the `PATH`. PTX that calls no library needs no toolkit.
  }];
  let options = [
    Option<"toolkit", "toolkit", "std::string", /*default=*/"\"\"",
           "CUDA toolkit">,
    Option<"format", "format", "std::string", /*default=*/"\"isa\"",
           "What to emit: isa (PTX), bin (cubin) or fatbin">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

//===----------------------------------------------------------------------===//
// To the CPU
//===----------------------------------------------------------------------===//

def FadProtectArguments : Pass<"fad-protect-arguments", "::mlir::func::FuncOp"> {
  let summary = "Keep bufferization from writing to arguments";
  let description = [{
    Marks the tensor arguments of public functions as not writable, unless they
    are marked already: a caller's tensors are values, whatever the function
    does with their buffers. Arguments with `fad.owned` belong to the function
    and are writable.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def FadReuseBuffers : Pass<"fad-reuse-buffers", "::mlir::func::FuncOp"> {
  let summary = "Write elementwise results over what is not read again";
  let description = [{
    Makes each elementwise `linalg` operation on tensors that starts from an
    empty tensor start from an operand instead, where that has the type of the
    result, is read element by element, and is not read afterwards: a derivative
    is written over its source, and a gradient over a derivative. Arguments are
    not written over, but for those with `fad.owned`, which belong to the
    function. One-Shot Bufferization then does so in place.

    Empty tensors and fills that several operations start from are given to each
    of them, right before it, so that a buffer exists from its first writer on.

    ```mlir
    %e = tensor.empty() : tensor<8xf32>
    %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes, where `%x` is not read again,

    ```mlir
    %y = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadFreeArguments : Pass<"fad-free-arguments", "::mlir::func::FuncOp"> {
  let summary = "Free the arguments that a function owns";
  let description = [{
    Frees each argument with `fad.owned`, a buffer, after its last use, or
    before the function returns where that has several blocks; where a copy of
    the argument is returned, the argument is returned itself. It goes after
    deallocation, and removes the attribute.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def FadSnapshotGlobals : Pass<"fad-snapshot-globals", "::mlir::ModuleOp"> {
  let summary = "Load and store globals by value";
  let description = [{
    Copies what `ml_program.global_load` reads of a mutable global, and what
    `ml_program.global_store` writes: a tensor is a value, whatever is stored to
    the global later, while bufferization makes it the buffer of the global. A
    load of a global that cannot change becomes a constant.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def FadInterchangeContractions : Pass<"fad-interchange-contractions", "::mlir::func::FuncOp"> {
  let summary = "Let contractions stream memory";
  let description = [{
    Turns each reduction on tensors in which a loop stands for one dimension of
    an operand (matmuls, sums, contractions spelled as `linalg.generic`) into a
    `linalg.generic` whose innermost loop runs along neighbouring elements of
    the result and of the operands. An operand that lies the other way is
    transposed first, if each of its elements is read more than once.

    The reduction loops keep their order: each element of the result sums the
    same terms in the same order as before.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadUnaliasResults : Pass<"fad-unalias-results", "::mlir::func::FuncOp"> {
  let summary = "Return no buffer twice";
  let description = [{
    Clones each buffer that a function returns and that may be, or be a view
    of, another buffer that it returns: whoever calls the function frees each
    result. It also clones a buffer that an iteration of `scf.while` hands on
    twice: bufferization takes what the next one begins with for two buffers, and
    writes to one of them while it still reads the other. It goes between
    bufferization and deallocation.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def FadExpandBuffers : Pass<"fad-expand-buffers", "::mlir::func::FuncOp"> {
  let summary = "Write views of several dynamic sizes with strides";
  let description = [{
    Replaces each `memref.expand_shape` that splits one size into several of
    which more than one is dynamic by a `memref.reinterpret_cast` with computed
    strides: `expand-strided-metadata`, which lowers the others, takes one
    dynamic size for each size of the source.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def FadLinalgToLoops : Pass<"fad-linalg-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg on buffers to loops over tiles";
  let description = [{
    Splits each `linalg` operation into tiles and lowers it to `scf` loops: an
    `scf.parallel` over the tiles, where there is enough to do for several
    threads, around `scf.for` loops over the elements of one tile.

    Elementwise operations become loops over vectors: loops along which all
    operands lie one after the other are joined, the innermost one is split into
    vectors of `vector-bits` of the widest type that the body computes with, and
    what is left is computed element by element. Where all operands are bf16, and
    f32 is computed with, vectors of bf16 are loaded whole, and the even numbers and
    the odd ones are computed apart: neither has to move.

    Where the innermost loop is a reduction, each lane combines the numbers at its
    place, then halves of the vector are combined until one number is left, and what
    the row has more comes last. So sums are rounded in another order than in loops
    over elements: one that depends on the number of lanes, and not on threads.

    Where a loop computes little, and has one result, of 16 MiB or more, that it does
    not write over what it reads, vectors are stored past the cache. Size and
    alignment of the buffer are looked at when the loop is run.

    What a single loop over vectors reads, and may be larger than 8 KiB, is fetched so
    far ahead, where a vector has 32 bytes of it or more.

    Bodies with more than scalar arithmetic, elements of `i1`, reductions that do
    anything but add, multiply, find the least or the greatest, or combine bits, and
    transposes are left to the compiler of the loops.
  }];
  let options = [
    Option<"parallel", "parallel", "bool", /*default=*/"true",
           "Use scf.parallel for loops over tiles">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"256",
           "Bits of a vector: 512 with AVX-512, 256 with AVX2, 128 with NEON; "
           "0 for loops over elements">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def FadApproximateMath : Pass<"fad-approximate-math"> {
  let summary = "Compute functions of f32 by arithmetic";
  let description = [{
    Rewrites `exp`, `expm1`, `log`, `log1p`, `tanh`, `erf` and `erfc` of the math
    dialect, on `f32` and vectors of it, to arithmetic without branches, which
    compilers make vector code of: calls of libm keep loops from it. Narrower types
    are to be extended first; `f64`, tensors and other functions are left as they
    are.

    The largest errors, in units in the last place of results that are normal:

    | function | error |
    |---|---|
    | `exp` | 0.8 |
    | `log` | 1 |
    | `expm1`, `log1p`, `tanh` | 1.5 |
    | `erf` | 3 |
    | `erfc` | 6 |

    Infinities, NaN and zeros give what libm gives.

    Where everything that is computed of a value is rounded to f16 or bf16, shorter
    forms are used: polynomials of lower degree, and multiplication with a
    reciprocal for division where the divisor is known to be from 2^-120 to 2^120.
    They err by up to two units more where f16 is among the results, and by 2^-18
    relative to the value where all are bf16. No instructions that estimate are used:
    results are the same in vectors and alone, and on every processor.

    With such an error it does not matter which way a tie goes. What is rounded to bf16
    of sums, products, quotients and roots that one of these functions is part of, and
    of selections that have no other numbers than those and numbers of bf16, rounds
    `to_nearest_away`, which takes fewer operations, where the program asks for nothing.
    `fad-math-to-libm` expands that, and is to follow.

    Minima and maxima with a constant other than zero become a comparison and a
    selection, one instruction of x86.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FadApproximateGPUMath : Pass<"fad-approximate-gpu-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Compute functions of f32 by what GPUs estimate";
  let description = [{
    Decides how kernels compute `exp`, `tanh`, `erf` and `erfc` of the math dialect and
    divisions, on scalars of `f32`. GPUs have instructions that estimate `2^x` and
    `1 / x`, marked `fastmath<arcp,afn>` here, which `fad-math-to-ptx` makes
    instructions of.

    | operation | how | error |
    |---|---|---|
    | `exp` | an integer power of two times the estimate of the rest | 5 |
    | `tanh` | a polynomial near zero, else an exponential | 4 |
    | `erf` | a polynomial near zero, else `exp(-x^2)` times one | 9 |
    | `erfc` | `exp(-x^2)` times a polynomial | 22 |
    | `x / y` | the estimate of `1 / y`, and a step of Newton's method | 1 |

    Errors are the largest, in units in the last place of results that are normal, where
    an estimate errs by up to 2. Where estimates are exact, they are 1, 2, 4, 9 and 1. A
    division is left as it is where the range of values does not show that the
    divisor has a normal reciprocal and the dividend is finite.

    Values that end up in `bf16` or `f16`, after arithmetic in `f32`, are computed with
    fewer operations: their errors are up to 2^-16 relative to the result, and 2^-14 of
    `erf` and `erfc` that end up in `bf16`. A sigmoid and its complement are computed
    from one exponential without selections.

    Exponentials that a value and its derivative share stay shared. The selection of a
    zero goes where the other branch is zero as well, of any sign.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FadMathToLibm : Pass<"fad-math-to-libm", "::mlir::ModuleOp"> {
  let summary = "Lower math operations to the accurate functions of libm";
  let description = [{
    Upstream's `convert-math-to-llvm` turns `math.expm1` and `math.log1p` into
    `exp(x) - 1` and `log(1 + x)`. This pass goes before it and calls libm for
    all that libm has, but for what processors have instructions for: absolute
    value, copysign, rounding, square root and fused multiply-add. It also expands
    `math.clampf`, `math.rsqrt`, `math.fpowi` (as a power) and conversions from and to
    bf16, which are exact here on every processor, rounding to nearest, with ties to even
    or away from zero, and keeping subnormal numbers. Fast-math flags of conversions, which
    the LLVM dialect has no place for, are dropped.

    `arith.minnumf` and `arith.maxnumf` become calls of `llvm.minimumnum` and
    `llvm.maximumnum` with `nsz`. Those of `llvm.minnum` and `llvm.maxnum`, which upstream
    makes of them, have the same values, but LLVM 22 leaves elements out where it
    vectorizes a loop of constant length that reduces by them.

    Any other rounding mode is an error: LLVM would round to nearest. So is a function
    that has the name of one that compiled code calls.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// To IREE
//===----------------------------------------------------------------------===//

def FadIm2col : Pass<"fad-im2col", "::mlir::func::FuncOp"> {
  let summary = "Rewrite convolutions without a name to matmuls of windows";
  let description = [{
    The gradient of a convolution with respect to its filter is, for most layouts,
    a convolution that has no name and that compilers have no fast code for. It is
    rewritten to a matmul: the windows of the image, written out one after the
    other, times the cotangent. That takes as much memory as there are elements in
    all windows. Convolutions that have a name stay, as do those of each channel
    alone, those of mixed types, and those the init of which is no `linalg.fill`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadHoistRecomputation : Pass<"fad-hoist-recomputation", "::mlir::func::FuncOp"> {
  let summary = "Compute first in backward what depends on no cotangent";
  let description = [{
    Undoes what `fad-shorten-lifetimes` does to a backward function. IREE orders
    operations by itself, and from the other order IREE 3.13 computes wrong
    gradients of residual networks.
  }];
  let dependentDialects = ["::mlir::fad::FadDialect"];
}

def FadLegalizeForIREE : Pass<"fad-legalize-for-iree"> {
  let summary = "Rewrite what IREE's compiler does not take";
  let description = [{
    Goes after `fad-to-linalg`. Replaces `math.erfc` by upstream's approximation
    in f32, with elementwise operations on tensors turned into `linalg.generic`,
    as are those of `linalg` by name (`linalg.exp`), which IREE's version of MLIR
    no longer has, and maxima over windows (`linalg.pooling_nhwc_max`) that do
    not begin with a fill, which IREE 3.13 gets wrong.

    Makes two sums of one over the last and other dimensions of a product, where
    a factor has the last dimension and is broadcast along another: IREE 3.13
    does not compile that.

    Copies each argument that an operation would write to in place: IREE would
    do so in the memory of the caller, and of residuals and results that are the
    same argument.

    Removes the attributes of the dialect from operations, and from arguments
    and results of functions: IREE knows no dialect `fad`. What the arguments
    and results are is to be read before.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // FAD_CODEGEN_PASSES_TD
