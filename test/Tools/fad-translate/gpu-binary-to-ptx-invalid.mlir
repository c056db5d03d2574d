// RUN: split-file %s %t

// RUN: rm -f %t.ptx
// RUN: not fad-translate %t/none.mlir -gpu-binary-to-ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ls %t.ptx
// NONE: none.mlir:{{.*}} error: there is no gpu.binary to print; fad-opt --fad-to-nvvm makes one of the fad.elementwise operations of a module

// RUN: not fad-translate %t/bin.mlir -gpu-binary-to-ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=BIN
// RUN: not ls %t.ptx
// BIN: error: gpu.binary 'kernels' holds bin and not PTX; compile it with --fad-to-nvvm=format=isa

// RUN: not fad-translate %t/several.mlir -gpu-binary-to-ptx 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: gpu.binary 'kernels' has 2 objects; compile it for one chip

// RUN: not fad-translate %t/good.mlir -gpu-binary-to-ptx -o %t/no/such/file.ptx 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: cannot open output file '{{.*}}/no/such/file.ptx': No such file or directory

//--- none.mlir
func.func @f() {
  return
}

//--- bin.mlir
gpu.binary @kernels [#gpu.object<#nvvm.target, bin = "\7FELF">]

//--- several.mlir
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, assembly = "a">,
                     #gpu.object<#nvvm.target<chip = "sm_90">, assembly = "b">]

//--- good.mlir
gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "a">]
