// RUN: fad-translate %s -gpu-binary-to-ptx -gpu-binary=second | FileCheck %s
// CHECK-NOT: first
// CHECK:     second text
// CHECK-NOT: first

// RUN: not fad-translate %s -gpu-binary-to-ptx 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: a PTX file holds one gpu.binary; choose with --gpu-binary one of: first, second

// RUN: not fad-translate %s -gpu-binary-to-ptx -gpu-binary=third 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: there is no gpu.binary 'third'; there are: first, second

gpu.binary @first [#gpu.object<#nvvm.target, assembly = "first text">]
gpu.binary @second [#gpu.object<#nvvm.target, assembly = "second text">]
