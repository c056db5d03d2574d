// Against numpy, whose packbits is fad.pack at one bit.

// DEFINE: %{make} = %python %S/../fad-runner/Inputs/make_arrays.py %t
// DEFINE: %{check} = %python %S/../fad-runner/Inputs/check_arrays.py %t

// RUN: %{make} 'x=rng.integers(0, 2, size=(5, 7)).astype("i1")' 'y=rng.integers(-128, 128, size=(3, 2, 3)).astype("i1")' \
// RUN:   'p=np.packbits(x.astype(bool), bitorder="little").view("i1")' \
// RUN:   'low=(y.reshape(-1) & 3).astype("u1")' 'rows=np.concatenate([low, np.zeros(2, "u1")]).reshape(-1, 4)' \
// RUN:   'q=(rows << np.array([0, 2, 4, 6], "u1")).sum(1).astype("u1").view("i1")' 'ylow=low.reshape(3, 2, 3).astype("i1")' \
// RUN:   'z=np.array(13, "i1")' 'none=np.zeros((0, 3), "i1")' \
// RUN:   'digits=(y.reshape(-1, 1).astype("u1") >> np.arange(8, dtype="u1")) & 1' \
// RUN:   'p3=np.packbits(digits[:, :3], bitorder="little").view("i1")' \
// RUN:   'p5=np.packbits(digits[:, :5], bitorder="little").view("i1")' \
// RUN:   'p6=np.packbits(digits[:, :6], bitorder="little").view("i1")' \
// RUN:   'p7=np.packbits(digits[:, :7], bitorder="little").view("i1")' \
// RUN:   'p8=np.packbits(digits[:, :8], bitorder="little").view("i1")'
// RUN: fad-runner %s --out=%t --entry=one_bit --arg=%t/x.npy
// RUN: %{check} 'close(out0, p, 0)' 'close(out1, x, 0)'
// RUN: fad-runner %s --out=%t --entry=two_bits --arg=%t/y.npy
// RUN: %{check} 'close(out0, q, 0)' 'close(out1, ylow, 0)'
// RUN: fad-runner %s --out=%t --entry=four_bits --arg=%t/z.npy
// RUN: %{check} 'out0.tolist() == [13]' 'out1.tolist() == 13'
// RUN: fad-runner %s --out=%t --entry=across --arg=%t/y.npy
// RUN: %{check} 'close(out0, p3, 0)' 'close(out1, p5, 0)' 'close(out2, p6, 0)' 'close(out3, p7, 0)' 'close(out4, p8, 0)' \
// RUN:   'close(out5, y & 7, 0)' 'close(out6, y & 31, 0)' 'close(out7, y & 63, 0)' 'close(out8, y & 127, 0)' 'close(out9, y, 0)'
// RUN: fad-runner %s --out=%t --entry=dynamic_across --arg=%t/x.npy
// RUN: %{check} 'close(out0, x, 0)'
// RUN: fad-runner %s --out=%t --entry=dynamic_across --arg=%t/none.npy
// RUN: %{check} 'out0.shape == (0, 3)'
// RUN: fad-runner %s --out=%t --entry=dynamic --arg=%t/x.npy
// RUN: %{check} 'close(out0, x, 0)'
// RUN: fad-runner %s --out=%t --entry=dynamic --arg=%t/none.npy
// RUN: %{check} 'out0.shape == (0, 3)'
// RUN: fad-runner %s --out=%t --entry=empty --arg=%t/none.npy
// RUN: %{check} 'out0.shape == (0,)' 'out1.shape == (0, 3)'

func.func @empty(%x: tensor<0x3xi8>) -> (tensor<0xi8>, tensor<0x3xi8>) {
  %p = fad.pack %x bits 3 : tensor<0x3xi8> -> tensor<0xi8>
  %u = fad.unpack %p bits 3 : tensor<0xi8> -> tensor<0x3xi8>
  return %p, %u : tensor<0xi8>, tensor<0x3xi8>
}

func.func @one_bit(%x: tensor<5x7xi8>) -> (tensor<5xi8>, tensor<5x7xi8>) {
  %p = fad.pack %x bits 1 : tensor<5x7xi8> -> tensor<5xi8>
  %u = fad.unpack %p bits 1 : tensor<5xi8> -> tensor<5x7xi8>
  return %p, %u : tensor<5xi8>, tensor<5x7xi8>
}

// What does not fit into two bits is dropped.
func.func @two_bits(%x: tensor<3x2x3xi8>) -> (tensor<5xi8>, tensor<3x2x3xi8>) {
  %p = fad.pack %x bits 2 : tensor<3x2x3xi8> -> tensor<5xi8>
  %u = fad.unpack %p bits 2 : tensor<5xi8> -> tensor<3x2x3xi8>
  return %p, %u : tensor<5xi8>, tensor<3x2x3xi8>
}

func.func @four_bits(%x: tensor<i8>) -> (tensor<1xi8>, tensor<i8>) {
  %p = fad.pack %x bits 4 : tensor<i8> -> tensor<1xi8>
  %u = fad.unpack %p bits 4 : tensor<1xi8> -> tensor<i8>
  return %p, %u : tensor<1xi8>, tensor<i8>
}

func.func @dynamic(%x: tensor<?x?xi8>) -> tensor<?x?xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xi8>
  %n = tensor.dim %x, %c1 : tensor<?x?xi8>
  %p = fad.pack %x bits 1 : tensor<?x?xi8> -> tensor<?xi8>
  %u = fad.unpack %p bits 1 sizes(%m, %n) : tensor<?xi8> -> tensor<?x?xi8>
  return %u : tensor<?x?xi8>
}

// Numbers that do not fill bytes, and bytes.
func.func @across(%x: tensor<3x2x3xi8>)
    -> (tensor<7xi8>, tensor<12xi8>, tensor<14xi8>, tensor<16xi8>, tensor<18xi8>,
        tensor<3x2x3xi8>, tensor<3x2x3xi8>, tensor<3x2x3xi8>, tensor<3x2x3xi8>, tensor<3x2x3xi8>) {
  %p3 = fad.pack %x bits 3 : tensor<3x2x3xi8> -> tensor<7xi8>
  %u3 = fad.unpack %p3 bits 3 : tensor<7xi8> -> tensor<3x2x3xi8>
  %p5 = fad.pack %x bits 5 : tensor<3x2x3xi8> -> tensor<12xi8>
  %u5 = fad.unpack %p5 bits 5 : tensor<12xi8> -> tensor<3x2x3xi8>
  %p6 = fad.pack %x bits 6 : tensor<3x2x3xi8> -> tensor<14xi8>
  %u6 = fad.unpack %p6 bits 6 : tensor<14xi8> -> tensor<3x2x3xi8>
  %p7 = fad.pack %x bits 7 : tensor<3x2x3xi8> -> tensor<16xi8>
  %u7 = fad.unpack %p7 bits 7 : tensor<16xi8> -> tensor<3x2x3xi8>
  %p8 = fad.pack %x bits 8 : tensor<3x2x3xi8> -> tensor<18xi8>
  %u8 = fad.unpack %p8 bits 8 : tensor<18xi8> -> tensor<3x2x3xi8>
  return %p3, %p5, %p6, %p7, %p8, %u3, %u5, %u6, %u7, %u8
      : tensor<7xi8>, tensor<12xi8>, tensor<14xi8>, tensor<16xi8>, tensor<18xi8>,
        tensor<3x2x3xi8>, tensor<3x2x3xi8>, tensor<3x2x3xi8>, tensor<3x2x3xi8>, tensor<3x2x3xi8>
}

func.func @dynamic_across(%x: tensor<?x?xi8>) -> tensor<?x?xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xi8>
  %n = tensor.dim %x, %c1 : tensor<?x?xi8>
  %p = fad.pack %x bits 5 : tensor<?x?xi8> -> tensor<?xi8>
  %u = fad.unpack %p bits 5 sizes(%m, %n) : tensor<?xi8> -> tensor<?x?xi8>
  return %u : tensor<?x?xi8>
}
