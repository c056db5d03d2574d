// The bytes of the object and nothing else, whatever they are.

// RUN: rm -f %t.cubin %t.fatbin
// RUN: fad-translate %s -gpu-binary-to-object -gpu-binary=first -o %t.cubin
// RUN: %python -c "print(open(r'%t.cubin', 'rb').read())" | FileCheck %s
// RUN: fad-translate %s -gpu-binary-to-object -gpu-binary=second -o %t.fatbin
// RUN: %python -c "print(open(r'%t.fatbin', 'rb').read())" | FileCheck %s --check-prefix=FATBIN
// CHECK:  b'\x7fELF\x00\r\n"\xff'
// FATBIN: b'P\xedU\xba'

// RUN: not fad-translate %s -gpu-binary-to-object -gpu-binary=third -o %t.none 2>&1 | FileCheck %s --check-prefix=PTX
// RUN: not ls %t.none
// PTX: error: gpu.binary 'third' holds assembly and not machine code; compile it with --fad-to-nvvm=format=bin or format=fatbin

gpu.binary @first [#gpu.object<#nvvm.target, bin = "\7FELF\00\0D\0A\22\FF">]
gpu.binary @second [#gpu.object<#nvvm.target, "P\EDU\BA">]
gpu.binary @third [#gpu.object<#nvvm.target, assembly = ".version 7.8">]
