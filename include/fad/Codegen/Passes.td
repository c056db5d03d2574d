//===- Passes.td - Conversions out of the fad dialect ------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_PASSES_TD
#define FAD_CODEGEN_PASSES_TD

include "fad/Analysis/OptionPass.td"

def FadExpandPrimitives : FadPass<"fad-expand-primitives"> {
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

def FadToLinalg : FadPass<"fad-to-linalg"> {
  let summary = "Lower the fad dialect to linalg on tensors";
  let description = [{
    Replaces each `fad.elementwise` by one `linalg.generic` with the same body,
    removes `fad.residual` and the attributes of the dialect on operations, and
    expands the activation primitives. `tensor.gather`, which has no other lowering,
    becomes a `linalg.generic`, and `tensor.scatter` becomes loops.
    `scf.index_switch` on tensors, which upstream's bufferization miscompiles,
    becomes `scf.if`. The result has upstream operations only. The attributes of
    arguments and results of functions (`fad.gradient = 0`) stay, because they say
    which gradient each result is.

    `fad.scatter_add` becomes a loop over the updates, each of which is added in
    place, for compilers that run loops in place (`fad-to-cpu`). With
    `scatter-as-reductions` it becomes reductions with parallel loops, for
    compilers that run each operation on tensors as a kernel of its own (IREE): each
    update is added by comparing its index with every place or, where there are
    more places than updates, with the indices of the other updates.
  }];
  let options = [
    Option<"scatterAsReductions", "scatter-as-reductions", "FAD_OPTION(bool)",
           /*default=*/"false",
           "Write fad.scatter_add as reductions instead of as a loop">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FadToGPU : FadPass<"fad-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Outline elementwise operations as GPU kernels";
  let description = [{
    Gives a kernel in the `gpu.module` `@kernels` to each `fad.elementwise` of the
    module, and to each `linalg.generic` that is a loop over elements. The attribute
    `fad.kernel` of the operation names its kernel. The operation itself stays: the
    owner of the buffers launches the kernel in its place, as `fad-launch-kernels`
    does.

    A kernel takes, in this order:

    | argument | for | form |
    |---|---|---|
    | inputs | each tensor operand | pointer to its elements, in row-major order and without gaps |
    | | each scalar operand | the scalar |
    | outputs | each result | pointer, as for a tensor operand |
    | count | | number of elements of a result, `i32`, up to 2^30 |
    | sizes | each repeated operand | its dynamic sizes, `i32` |

    An operand of a `linalg.generic` may be repeated: a row, a column, a plane. The
    element for place `i` of a result is at `(i / inner) % extent`, where `extent`
    is the number of elements of the operand, and `inner` the number of neighboring
    places that share an element. Values that the body captures follow the operands:
    scalars, and buffers that it reads at computed places, as `fad.unpack` does. A
    loop that combines up to 8 neighboring elements to one, as `fad.pack` does, has
    a kernel as well, which reads its outputs first.

    An element of type `i1` takes one byte, 0 or 1; an `index` takes 8. Outputs do not
    overlap each other. A kernel has three variants:

    | name | pointers |
    |---|---|
    | that of `fad.kernel` | aligned to 16 bytes; no output overlaps an input |
    | with `_inplace` | aligned to 16 bytes; an output may be an input |
    | with `_unaligned` | aligned to their elements; an output may be an input |

    With repeated operands, the first two also require that no vector of a thread
    crosses the end of a row: its length, or `inner`, is a multiple of the lanes.

    A kernel is launched with `fad.block_size` threads in a block and
    ceil(count / `fad.tile_size`) blocks; both attributes are on the operation.
    Further blocks compute nothing. Each block computes one tile of `fad.tile_size`
    elements: in vectors of 16 bytes of the widest element type, neighboring threads
    taking neighboring vectors, or one element at a time where the tile is not full
    or the variant has no vectors. Offsets are computed in 32 bits.

    A `linalg.generic` that sums over its leading dimensions, as the gradient of a
    bias does, has two kernels, whose names end with `_partial` and `_total`. Each
    block of the first one sums some rows. The second one adds these sums, in order,
    to the elements of the output. So the result does not depend on the order of the
    blocks. Numbers narrower than `f32` are summed in `f32`.

    The number of threads, the number of vectors that each thread loads, and the
    limit of registers suit `chip`.

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

    The size in the memref types is an upper bound: kernels take bare pointers.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "Architecture that the kernels are to suit">,
    Option<"blockSize", "block-size", "FAD_OPTION(int64_t)", /*default=*/"0",
           "Threads in a block, a multiple of 32 up to 1024; 0: what suits the chip">,
    Option<"accesses", "accesses", "FAD_OPTION(int64_t)", /*default=*/"0",
           "Vectors of each tensor that a thread loads, up to 8; 0: what suits the "
           "chip">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def FadLaunchKernels : FadPass<"fad-launch-kernels", "::mlir::ModuleOp"> {
  let summary = "Replace loops on buffers by launches of their kernels";
  let description = [{
    Replaces each `linalg.generic` on buffers that has a kernel of `fad-to-gpu` by
    launches of this kernel. A comparison at run time selects the variant:

    - vectors, where all buffers are aligned to 16 bytes and no vector crosses the
      end of a repeated row;
    - among these, the variant with outputs that are inputs, where buffers overlap.
      Bufferization makes such buffers the same buffer.

    Buffers with gaps are copied. More than `largest-launch` elements take several
    launches, each of which begins at a multiple of the period of the repeated
    operands; an assertion fails if this period is longer than a launch.

    Both the host and the device have to reach the buffers.

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
    Option<"largestLaunch", "largest-launch", "FAD_OPTION(int64_t)", /*default=*/"1073741824",
           "Elements that one launch computes at most, up to 2^30">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def FadMathToPTX : FadPass<"fad-math-to-ptx", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower math operations for which PTX has instructions";
  let description = [{
    Upstream's `convert-gpu-to-nvvm` turns nearly every `math` operation into a
    call of NVIDIA's libdevice, and linking it takes a CUDA toolkit. This pass
    goes before it and lowers, through upstream's patterns, the operations that
    need no library: absolute value, rounding, square root, fused
    multiply-add, copysign, maxnum and minnum, clamp, tests of NaN and infinity,
    and bit counts.

    An exponent of `math.fpowi` that is narrower than the 32 bits of libdevice, or
    that is constant and small enough, is converted to 32 bits. A rounding mode
    other than to the nearest, ties to even, is an error: LLVM would ignore it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def FadAttachNVVMTarget : FadPass<"fad-attach-nvvm-target", "::mlir::ModuleOp"> {
  let summary = "Attach a checked NVVM target to each GPU module";
  let description = [{
    Upstream's `nvvm-attach-target`, for one target, with checked options. Upstream
    ends the process on an unknown chip or PTX version and on a version too old for
    the chip; here these are errors. Without `features`, PTX has the lowest version
    that knows the chip, so that the oldest `ptxas` for this chip takes the PTX.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "Architecture, sm_70 or newer">,
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "PTX version, such as +ptx80">
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def FadKernelsToBinary : FadPass<"fad-kernels-to-binary", "::mlir::ModuleOp"> {
  let summary = "Compile GPU modules after checking their symbols";
  let description = [{
    Upstream's `gpu-module-to-binary`, preceded by checks that it lacks. Each of
    these is an error at the operation concerned:

    - an operation without a lowering to NVVM;
    - a call of a function that is neither in the GPU module nor in libdevice;
    - a call of a function in libdevice without a CUDA toolkit: upstream would emit
      PTX with an unresolved symbol.

    The toolkit is the option `toolkit`; without it, the first of these that
    has `nvvm/libdevice/libdevice.10.bc`: the environment variables `CUDA_HOME`
    and `CUDA_PATH`, `/usr/local/cuda*`, `/usr/lib/cuda`, `/opt/cuda`, the
    directory above that of an `nvcc` on the `PATH`, and the directories of the PyPI
    packages `nvidia-nvvm` (CUDA 13) and `nvidia-cuda-nvcc-cu12` for the `python3` on
    the `PATH`. PTX that calls no library needs no toolkit.
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

def FadCheckBufferization : FadPass<"fad-check-bufferization"> {
  let summary = "Report operations that bufferization does not know";
  let description = [{
    Reports each operation on tensors that does not implement upstream's
    `BufferizableOpInterface`, by its name. Upstream's message has only its place. Of a
    `linalg.pack`, the tile whose size is a value is named: `fad-normalize` lowers all
    others. A `vector.transfer_write` is reported, too, where LLVM 22's bufferization
    would lose the elements that it leaves as they are.
  }];
}

def FadProtectArguments : FadPass<"fad-protect-arguments", "::mlir::func::FuncOp"> {
  let summary = "Keep bufferization from writing to arguments";
  let description = [{
    Sets `bufferization.writable` to false on the tensor arguments of public
    functions that have no such attribute: a caller's tensors are values, whatever
    the function does with their buffers. Arguments with `fad.owned` belong to the
    function and are writable.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def FadReuseBuffers : FadPass<"fad-reuse-buffers", "::mlir::func::FuncOp"> {
  let summary = "Write elementwise results over dead operands";
  let description = [{
    An elementwise `linalg` operation on tensors whose init is an empty tensor gets
    an operand as its init instead, if the operand has the type of the result, is
    read element by element, and is dead afterwards: a derivative overwrites its
    source, and a gradient a derivative. Among the arguments only those with
    `fad.owned`, which belong to the function, are overwritten. One-Shot
    Bufferization then works in place.

    Empty tensors and fills with several users are cloned right before each user, so
    that a buffer exists from its first writer on.

    ```mlir
    %e = tensor.empty() : tensor<8xf32>
    %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes, where `%x` is dead afterwards,

    ```mlir
    %y = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadFreeArguments : FadPass<"fad-free-arguments", "::mlir::func::FuncOp"> {
  let summary = "Free the arguments that a function owns";
  let description = [{
    Frees each argument with `fad.owned`, a buffer, after its last use, or before
    the return of a function with several blocks. A function that returns a copy of
    such an argument returns the argument itself. The pass goes after deallocation,
    and removes the attribute.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def FadSnapshotGlobals : FadPass<"fad-snapshot-globals", "::mlir::ModuleOp"> {
  let summary = "Load and store globals by value";
  let description = [{
    Copies the tensors that `ml_program.global_load` reads of mutable globals and
    that `ml_program.global_store` writes. Tensors are values, independent of later
    stores, but bufferization would make them aliases of the global's buffer. A load
    of an immutable global becomes a constant.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def FadSelectContractions : FadPass<"fad-select-contractions", "::mlir::func::FuncOp"> {
  let summary = "Mark contractions for a library";
  let description = [{
    Gives the attribute `fad.library` to contractions on tensors that are faster in a
    library of linear algebra: products of matrices, batches of them, and every
    `linalg.generic` that adds products of its two inputs to its output, in which a
    loop is one of a batch, of rows, of columns, or a reduction. Each becomes a
    `linalg.generic`. Copies that transpose or broadcast an operand are left out: the
    contraction reads their source, by another indexing map. If a reshape has joined
    dimensions of the copy, the loop over them is split first.

    `contractions` is `auto` for those whose matrices take 16384 products or more, or
    an unknown number, and have no batch between their elements; `library` for all; or
    `loops` for none. `types` lists the types of
    elements that the library has, by default all: `f32` and `f64`.

    ```mlir
    %t = linalg.transpose ins(%w : tensor<64x32xf32>) outs(%e : tensor<32x64xf32>)
        permutation = [1, 0]
    %y = linalg.matmul ins(%x, %t : tensor<?x32xf32>, tensor<32x64xf32>)
        outs(%zero : tensor<?x64xf32>) -> tensor<?x64xf32>
    ```

    becomes

    ```mlir
    %y = linalg.generic {indexing_maps = [
          affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
          affine_map<(m, n, k) -> (m, n)>], ...}
        ins(%x, %w : tensor<?x32xf32>, tensor<64x32xf32>)
        outs(%zero : tensor<?x64xf32>) attrs = {fad.library} {...}
    ```
  }];
  let options = [
    Option<"contractions", "contractions", "FAD_OPTION(::mlir::fad::Contractions)",
           /*default=*/"::mlir::fad::Contractions::automatic",
           "Contractions that a library computes",
           [{::mlir::fad::getContractionsValues()}]>,
    ListOption<"types", "types", "std::string",
           "Types of elements that the library has; default: all">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
  let statistics = [
    Statistic<"numSelected", "num-selected", "Contractions for the library">,
    Statistic<"numLeft", "num-left", "Contractions left to loops">
  ];
}

def FadContractionsToCalls : FadPass<"fad-contractions-to-calls", "::mlir::ModuleOp"> {
  let summary = "Replace marked contractions by calls of a library";
  let description = [{
    Replaces each contraction on buffers with the attribute `fad.library` by a call of
    `fad_contract_f32` or `fad_contract_f64`. These take the three buffers, as
    descriptors with any strides; for each buffer a word that has the loop of each dimension in four bits,
    the first dimension in the lowest ones, and then 15; and flags: whether the products are
    added to what is in the output (1), and whether only the calling thread computes
    them (2). A fill with zeros before the contraction is left
    out where nothing else reads it.

    These functions are in the runtime with which fad runs code itself, and in no
    library that other programs link. A function of the program that has one of these
    names is an error.
  }];
  let options = [
    Option<"parallel", "parallel", "FAD_OPTION(bool)", /*default=*/"true",
           "Whether the library may use several threads">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numCalls", "num-calls", "Calls of the library">,
    Statistic<"numLoops", "num-loops", "Marked contractions that later passes have changed">
  ];
}

def FadInterchangeContractions : FadPass<"fad-interchange-contractions", "::mlir::func::FuncOp"> {
  let summary = "Interchange loops so that contractions read neighboring elements";
  let description = [{
    Each reduction on tensors in which a loop stands for one dimension of
    an operand (matmuls, sums, contractions spelled as `linalg.generic`) becomes a
    `linalg.generic` whose innermost loop runs along neighboring elements of
    the result and of the operands. An operand with another layout is transposed
    first, if each of its elements is read more than once.

    The reduction loops keep their order: each element of the result sums the
    same terms in the same order as before. Contractions with the attribute
    `fad.library` stay as they are.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadFuseElementwise : FadPass<"fad-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Join elementwise operations on tensors into one loop";
  let description = [{
    An elementwise `linalg.generic` whose result one other elementwise
    `linalg.generic` reads, once, is computed there, by upstream's fusion: a
    normalization reads and writes memory once in place of four times. Operands of
    lower rank, such as the mean of a channel, are read as they are.

    The pass fuses nothing if more memory would be in use between both operations.
    That is so if two operands of the producer, of the size of its result, would have
    to live on to the consumer.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
  let statistics = [
    Statistic<"numFused", "num-fused", "Producers fused into their readers">,
    Statistic<"numRefused", "num-refused", "Producers that stay apart, as memory would grow">
  ];
}

def FadPoisonToEmpty : FadPass<"fad-poison-to-empty", "::mlir::func::FuncOp"> {
  let summary = "Make ub.poison of tensors tensor.empty, which has a buffer";
  let description = [{
    Canonicalization replaces values that no run reads, such as those that the body of
    a loop without iterations ends with, by `ub.poison`, for which bufferization has no
    buffer. The pass replaces those of tensor types by `tensor.empty`, with no elements
    where sizes are dynamic. It goes before bufferization.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def FadDropEmptySlices : FadPass<"fad-drop-empty-slices", "::mlir::func::FuncOp"> {
  let summary = "Remove slices that begin at the end of a tensor";
  let description = [{
    A slice whose offset is the size of a dimension has no elements there:

    ```mlir
    %a = tensor.cast %x : tensor<0x?xf32> to tensor<?x?xf32>
    %s = tensor.extract_slice %a[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    ```

    The verifier of static offsets takes such a slice for one outside of the tensor, once
    the size is known, and canonicalization of buffers makes it known. The pass replaces
    what is read there by `tensor.empty`, and what is written by the tensor as it was. It
    goes before bufferization, and behind the checks of slices at run time.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def FadMakeContiguous : FadPass<"fad-make-contiguous", "::mlir::func::FuncOp"> {
  let summary = "Copy buffers that have gaps where none are expected";
  let description = [{
    Replaces each `memref.cast` to the identity layout by a copy, unless the elements
    of its source are known to lie one behind the other. Bufferization makes such casts
    for what functions, calls, loops and branches pass on. It takes a dynamic stride for
    that of the identity layout, so that the rows of

    ```mlir
    %s = tensor.extract_slice %x[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    return %s : tensor<?x?xf32>
    ```

    would be read as if `%x` had `%n` columns. The pass goes right behind bufferization.
    The cast remains where types, or the sizes of a slice and of its source, tell that
    the slice has no gaps, as for rows of `%x`.
  }];
  let options = [
    Option<"alignment", "alignment", "FAD_OPTION(uint64_t)", /*default=*/"64",
           "Alignment of the copies in bytes; 0 is the natural one">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def FadResultsToArguments : FadPass<"fad-results-to-arguments", "::mlir::ModuleOp"> {
  let summary = "Write results to buffers of the caller";
  let description = [{
    Has functions take the buffers of their results, behind their arguments, in place
    of returning them, so that callers own the memory: kernels on slices of
    tensors, in threads of another library, allocate nothing. A result that is
    allocated in a function with one block, and returned once, is computed in the
    caller's buffer; others are copied to it. The pass calls upstream's
    `buffer-results-to-out-params`, and leaves allocations where they are in functions
    for which that is wrong. It goes between bufferization and `fad-unalias-results`.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def FadUnaliasResults : FadPass<"fad-unalias-results", "::mlir::func::FuncOp"> {
  let summary = "Return each buffer once";
  let description = [{
    Callers free each result of a function. So the pass clones each returned buffer
    that may alias another returned buffer. It also clones a buffer that an
    iteration of `scf.while` passes on twice: bufferization takes the initial values
    of the next iteration for two buffers, and writes to one of them while it still
    reads the other. The pass goes between bufferization and deallocation.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def FadMoveBF16AsInteger : FadPass<"fad-move-bf16-as-integer", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Load, choose and store numbers of bf16 as i16";
  let description = [{
    Gives operations of the LLVM dialect that move numbers of bf16 the type i16, with
    a bitcast where something computes with one. LLVM 22 ends the process for some
    shuffles of vectors of bf16 that its own vectorizers make of such operations, on
    processors with AVX2 and without instructions for bf16 ("Cannot select"). The pass
    goes at the end of a pipeline to the LLVM dialect.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def FadExpandBuffers : FadPass<"fad-expand-buffers", "::mlir::func::FuncOp"> {
  let summary = "Write views of several dynamic sizes with strides";
  let description = [{
    Replaces each `memref.expand_shape` that splits one size into several sizes,
    two or more of them dynamic, by a `memref.reinterpret_cast` with computed
    strides. `expand-strided-metadata`, which lowers the others, takes one dynamic
    size for each size of the source.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def FadLinalgToLoops : FadPass<"fad-linalg-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg on buffers to loops over tiles";
  let description = [{
    Splits each `linalg` operation into tiles and lowers it to `scf` loops: an
    `scf.parallel` over the tiles, if the work suffices for several threads, around
    `scf.for` loops over the elements of one tile.

    Elementwise operations become loops over vectors. Dimensions of size 1, which stand
    at index 0, are left out, and loops along which all operands are contiguous are
    joined, as are those of reductions. The innermost loop is split into vectors of
    `vector-bits` of the widest type in which the body computes; the rest is
    computed element by element. Where all operands are bf16, and the body computes
    in f32, vectors of bf16 are loaded whole, and the even and the odd elements are
    computed apart, so neither has to move.

    Where the innermost loop is a reduction, its results stay in registers, and its
    sums and products get the flag `reassoc`, so that LLVM vectorizes the loop. So
    they are rounded in another order than in loops over elements. This order depends
    on the processor, and not on the number of threads. Results of f16 and bf16 are
    combined in f32 along the innermost loop, and rounded after it.

    Loops of little arithmetic with one result, of 16 MiB or more, that overwrites
    none of their operands, store their vectors past the cache. Size and alignment
    of the buffer are tested when the loop runs.

    A single loop over vectors prefetches its operands that may be larger than 8 KiB
    and of which a vector has 32 bytes or more.

    Some loops over elements are left to the compiler of the loops: those of bodies
    with more than scalar arithmetic, of elements of `i1`, and of transposes.
  }];
  let options = [
    Option<"parallel", "parallel", "FAD_OPTION(bool)", /*default=*/"true",
           "Use scf.parallel for loops over tiles">,
    Option<"vectorBits", "vector-bits", "FAD_OPTION(int64_t)", /*default=*/"256",
           "Bits of a vector: 512 with AVX-512, 256 with AVX2, 128 with NEON; "
           "0 for loops over elements">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numVectors", "num-vectors", "Operations computed in vectors">,
    Statistic<"numReductions", "num-reductions", "Reductions that LLVM vectorizes">,
    Statistic<"numElements", "num-elements", "Operations computed one element at a time">
  ];
}

def FadApproximateMath : FadPass<"fad-approximate-math"> {
  let summary = "Compute functions of f32 by arithmetic";
  let description = [{
    Rewrites `exp`, `expm1`, `log`, `log1p`, `tanh`, `erf` and `erfc` of the math
    dialect, on `f32` and vectors of it, to arithmetic without branches, which
    compilers vectorize; loops with calls of libm stay scalar. Narrower types are to
    be extended first. `f64`, tensors and other functions stay as they are.

    The largest errors, in units in the last place of results that are normal:

    | function | error |
    |---|---|
    | `exp` | 0.8 |
    | `log` | 1 |
    | `expm1`, `log1p`, `tanh` | 1.5 |
    | `erf` | 3 |
    | `erfc` | 6 |

    Infinities, NaN and zeros give the results of libm.

    Shorter forms compute values that reach f16 or bf16 only: polynomials of lower
    degree, and multiplication with a reciprocal for division by a divisor that is
    known to be from 2^-120 to 2^120. Their error is up to two units larger where
    f16 is among the results, and 2^-18 relative to the value where all are bf16. No
    instruction that estimates is used: results are the same in vectors and alone,
    and on every processor.

    With such an error, the direction of ties does not matter. With `ties-away`, sums,
    products, quotients and roots that one of these functions is part of, and
    selections among them and numbers of bf16, are rounded to bf16 by
    `to_nearest_away`, which takes fewer operations, unless the program asks for a
    rounding mode. `fad-math-to-libm`, which is to follow, expands this conversion.

    Minima and maxima with a constant other than zero become a comparison and a
    selection, one instruction of x86.
  }];
  let options = [
    Option<"tiesAway", "ties-away", "FAD_OPTION(bool)", /*default=*/"true",
           "Round ties to bf16 away from zero where a function has a larger error: GELU with "
           "its derivative takes 12.6 us in place of 14.9 (16384 elements, one thread, AVX2)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FadApproximateGPUMath : FadPass<"fad-approximate-gpu-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Compute functions of f32 by the estimates of GPUs";
  let description = [{
    Selects the form in which kernels compute `exp`, `tanh`, `erf` and `erfc` of the
    math dialect and divisions, on scalars of `f32`. GPUs have instructions that
    estimate `2^x` and `1 / x`. Operations with `fastmath<arcp,afn>` stand for them,
    and `fad-math-to-ptx` lowers these.

    | operation | how | error |
    |---|---|---|
    | `exp` | an integer power of two times the estimate of the rest | 5 |
    | `tanh` | a polynomial near zero, else an exponential | 4 |
    | `erf` | a polynomial near zero, else `exp(-x^2)` times one | 9 |
    | `erfc` | `exp(-x^2)` times a polynomial | 22 |
    | `x / y` | the estimate of `1 / y`, and a step of Newton's method | 1 |

    Errors are the largest, in units in the last place of results that are normal, if
    an estimate errs by up to 2. Where estimates are exact, they are 1, 2, 4, 9 and 1. A
    division is left as it is unless the ranges of values show that the divisor has a
    normal reciprocal and the dividend is finite.

    Values that reach `bf16` or `f16`, after arithmetic in `f32`, take fewer
    operations: their errors are up to 2^-16 relative to the result, and 2^-14 for
    `erf` and `erfc` that reach `bf16`. One exponential without selections gives a
    sigmoid and its complement. With `contract`, a product and the sum that it is part
    of are rounded once: the kernel for the GELU of tanh and its derivative in bf16 takes
    at most 22 instructions of sm_90 for an element, where it takes 24 without, which is
    more than keeps pace with memory.

    A value and its derivative share exponentials as before. A selection between a
    zero and a branch that is zero as well, of any sign, is removed.
  }];
  let options = [
    Option<"contract", "contract", "FAD_OPTION(bool)", /*default=*/"true",
           "Fuse products and sums that reach 16 bits only: at most 22 instructions for an "
           "element of GELU with its derivative in place of 24 (bf16, sm_90)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FadKeepRoundings : FadPass<"fad-keep-roundings"> {
  let summary = "Keep the roundings between emulated operations";
  let description = [{
    Removes the fast-math flags of `arith.extf` and `arith.truncf`, for which the LLVM
    dialect has no place. Upstream's
    `arith-emulate-unsupported-floats`, which this pass goes after, computes bf16 in
    f32, rounds after each operation, and gives both conversions the flag `contract`,
    which allows a later pass to leave the pair out. A value that is computed again
    would then have other digits than the one that was kept, and the elements that
    equal a maximum would not be found again.
  }];
}

def FadMathToLibm : FadPass<"fad-math-to-libm", "::mlir::ModuleOp"> {
  let summary = "Lower math operations to the accurate functions of libm";
  let description = [{
    Upstream's `convert-math-to-llvm` turns `math.expm1` and `math.log1p` into
    `exp(x) - 1` and `log(1 + x)`. This pass goes before it and calls libm for
    every function of libm but those that processors have instructions for: absolute
    value, copysign, rounding, square root and fused multiply-add. It also expands
    `math.clampf`, `math.rsqrt`, `math.fpowi` (as a power) and conversions from and to
    bf16, which are exact here on every processor, rounding to nearest, with ties to even
    or away from zero, and keeping subnormal numbers.

    `arith.minnumf` and `arith.maxnumf` become calls of `llvm.minimumnum` and
    `llvm.maximumnum` with `nsz`. Upstream's lowering to `llvm.minnum` and
    `llvm.maxnum` has the same values, but LLVM 22 leaves elements out when it
    vectorizes a loop of constant length that reduces by them.

    Any other rounding mode is an error: LLVM would round to nearest. A function of
    the program with the name of a libc or libm function that compiled code calls is
    an error, too.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// To IREE
//===----------------------------------------------------------------------===//

def FadIm2col : FadPass<"fad-im2col", "::mlir::func::FuncOp"> {
  let summary = "Rewrite convolutions to matmuls of windows";
  let description = [{
    The gradient of a convolution with respect to its filter is, for most layouts,
    a convolution that has no named operation, and for which compilers have no fast
    code. It becomes a matmul of the windows of the image, written out one after the
    other, and the cotangent. The windows take as much memory as all of their
    elements. Depthwise convolutions stay, as do those of mixed types, and those whose
    init is no `linalg.fill`. Named convolutions stay, too, for which IREE has fast
    code; with `named`, they become matmuls for a library, and convolutions by a filter of
    one element or as large as the image, without strides, are contractions, whose
    windows no copy writes out, whatever `min-products` and `types` are.
  }];
  let options = [
    Option<"named", "named", "FAD_OPTION(bool)", /*default=*/"false",
           "Rewrite named convolutions, too">,
    Option<"minProducts", "min-products", "FAD_OPTION(int64_t)", /*default=*/"0",
           "Leave convolutions that are known to have fewer products">,
    ListOption<"types", "types", "std::string",
           "Types of elements to rewrite; default: all">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FadHoistRecomputation : FadPass<"fad-hoist-recomputation", "::mlir::func::FuncOp"> {
  let summary = "Compute values that depend on no cotangent first in backward";
  let description = [{
    Undoes what `fad-shorten-lifetimes` does to a backward function: IREE orders
    operations by itself, and from the other order IREE 3.13 computes wrong
    gradients of residual networks.
  }];
  let dependentDialects = ["::mlir::fad::FadDialect"];
}

def FadLegalizeForIREE : FadPass<"fad-legalize-for-iree"> {
  let summary = "Rewrite operations that IREE's compiler does not take";
  let description = [{
    The pass goes after `fad-to-linalg` and rewrites

    - `math.erfc` to upstream's approximation in f32;
    - elementwise operations on tensors, and those of `linalg` by name
      (`linalg.exp`), which IREE's version of MLIR no longer has, to
      `linalg.generic`;
    - maxima over windows (`linalg.pooling_nhwc_max`) that do not begin with a fill,
      which IREE 3.13 miscompiles;
    - a sum, over the last and other dimensions, of a product in which a factor has
      the last dimension and is broadcast along another, to two sums: IREE 3.13
      cannot compile the one.

    Arguments that an operation would overwrite in place are copied: IREE would
    write to the caller's memory, and to residuals and results that are the same
    argument.

    The attributes of the dialect are removed from operations, arguments and results
    of functions, because IREE does not know the dialect `fad`. A user who needs the
    meaning of arguments and results reads it before this pass.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // FAD_CODEGEN_PASSES_TD
