// What .npy files may look like, and what a bad one is told.

// DEFINE: %{make} = %python %S/Inputs/make_arrays.py %t
// DEFINE: %{check} = %python %S/Inputs/check_arrays.py %t
// DEFINE: %{run} = fad-runner %s --entry=f32 --out=%t --arg

// Elements in Fortran order, and later versions of the format.
// RUN: %{make} 'x=np.asfortranarray(rng.normal(size=(3, 5)).astype("f4"))'
// RUN: %{run} %t/x.npy
// RUN: %{check} 'x.flags.f_contiguous' 'close(out0, x)'
// RUN: %python -c "import numpy as np, sys; x = np.load(sys.argv[1] + '/x.npy'); np.lib.format.write_array(open(sys.argv[1] + '/v3.npy', 'wb'), x, (3, 0))" %t
// RUN: %{run} %t/v3.npy
// RUN: %{check} 'close(out0, x)'

// bf16 is rounded once to nearest, ties to even, from any float: the third
// number is above a tie, until it is rounded to f32.
// RUN: %{make} 'x=np.array([1.00390625, 1.01171875, 1.0039063, 3e38, np.inf])' 'y=x.astype("f4")' \
// RUN:   'z=np.array([1.0039062, 65504], "f2")'
// RUN: fad-runner %s --entry=bf16 --arg=%t/x.npy --arg=%t/y.npy --arg=%t/z.npy | FileCheck %s --check-prefix=BF16
// BF16: out0: tensor<5xbf16> = [1, 1.015625, 1.007812, 3.004055e+38, inf]
// BF16: out1: tensor<5xbf16> = [1, 1.015625, 1, 3.004055e+38, inf]
// BF16: out2: tensor<2xbf16> = [1, 65536]

// RUN: %{make} 'x=np.zeros((3, 4), "f4")' 'd=np.zeros((3, 5))' 'r=np.zeros(15, "f4")' \
// RUN:   'i=np.zeros((3, 5), "i4")' 'b=np.zeros((3, 5), ">f4")' 'o=np.zeros((3, 5), "f4,f4")' \
// RUN:   'good=np.zeros((3, 5), "f4")'
// RUN: not %{run} %t/x.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: npy.mlir:{{.*}}:16: error: argument 0: '{{.*}}/x.npy' has shape (3, 4), but shape (?, 5) is expected
// RUN: not %{run} %t/r.npy 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: argument 0: '{{.*}}/r.npy' has shape (15), but shape (?, 5) is expected
// RUN: not %{run} %t/d.npy 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: argument 0: '{{.*}}/d.npy' has elements of dtype f8, but dtype f4 is expected for f32
// RUN: not %{run} %t/i.npy 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: argument 0: '{{.*}}/i.npy' has elements of dtype i4, but dtype f4 is expected for f32
// RUN: not %{run} %t/b.npy 2>&1 | FileCheck %s --check-prefix=ENDIAN
// ENDIAN: error: argument 0: '{{.*}}/b.npy' has big-endian elements (>f4); save it with a dtype that begins with '<'
// RUN: not %{run} %t/o.npy 2>&1 | FileCheck %s --check-prefix=STRUCT
// STRUCT: error: argument 0: '{{.*}}/o.npy' has a header that is not understood: {'descr': [('f0', '<f4')
// RUN: not %{run} %t/none.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: argument 0: cannot read '{{.*}}/none.npy': No such file or directory
// RUN: not %{run} %t 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: argument 0: '{{.*}}' is none of a .npy file, random:SEED and a number

// Not one byte may be missing, nor one too many.
// RUN: head -c 187 %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: argument 0: '{{.*}}/bad.npy' has 59 bytes of elements, but 60 are expected for shape (3, 5)
// RUN: cat %t/good.npy %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: error: argument 0: '{{.*}}/bad.npy' has 248 bytes of elements, but 60 are expected for shape (3, 5)
// RUN: head -c 100 %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// RUN: head -c 9 %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// TRUNCATED: error: argument 0: '{{.*}}/bad.npy' is truncated
// RUN: echo > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=MAGIC
// MAGIC: error: argument 0: '{{.*}}/bad.npy' is not a .npy file

// What may have no end is not opened. Nothing writes to the pipe.
// RUN: %python -c "import os, sys; os.path.exists(sys.argv[1]) or os.mkfifo(sys.argv[1])" %t/pipe.npy
// RUN: ln -sf /dev/null %t/device.npy && mkdir -p %t/folder.npy
// RUN: not %{run} %t/pipe.npy 2>&1 | FileCheck %s --check-prefix=PIPE
// RUN: not %{run} %t/device.npy 2>&1 | FileCheck %s --check-prefix=PIPE
// RUN: not %{run} %t/folder.npy 2>&1 | FileCheck %s --check-prefix=PIPE
// RUN: not %{run} %t/good.npy --policy=bp --cotangent=%t/pipe.npy 2>&1 | FileCheck %s --check-prefix=PIPE-COTANGENT
// PIPE-COTANGENT: error: the cotangent of result 0: cannot read '{{.*}}/pipe.npy': it is a folder, a pipe or a device; give a file
// PIPE: error: argument 0: cannot read '{{.*}}.npy': it is a folder, a pipe or a device; give a file

// A header is not shown as it is: a terminal would obey it.
// RUN: sed "s/'<f4'/'\x1b[2'/" %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=ESCAPE
// ESCAPE: error: argument 0: '{{.*}}/bad.npy' has a header that is not understood: {'descr': '\033[2'

// Headers that nobody writes.
// RUN: sed "s/'shape': (3, 5)/'shape': (3, -5)/" %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=HEADER
// RUN: sed "s/'shape': (3, 5)/'shape': (3, 5 /" %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=HEADER
// RUN: sed "s/fortran_order/fortran_Order/" %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=HEADER
// RUN: sed "s/'shape': (3, 5)/'descr': '<f4' /" %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=HEADER
// HEADER: error: argument 0: '{{.*}}/bad.npy' has a header that is not understood: {'descr'
// RUN: sed "s/'shape': (3, 5), /'shape': (99999999999, 5), /;s/}        /}/" %t/good.npy > %t/bad.npy
// RUN: not %{run} %t/bad.npy 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: error: argument 0: '{{.*}}/bad.npy' has {{[0-9]+}} bytes of elements, but 1999999999980 are expected for shape (99999999999, 5)

func.func @bf16(%x: tensor<?xbf16>, %y: tensor<5xbf16>, %z: tensor<2xbf16>)
    -> (tensor<?xbf16>, tensor<5xbf16>, tensor<2xbf16>) {
  return %x, %y, %z : tensor<?xbf16>, tensor<5xbf16>, tensor<2xbf16>
}

func.func @f32(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  return %x : tensor<?x5xf32>
}
