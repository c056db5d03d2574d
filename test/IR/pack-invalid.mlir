// RUN: fad-opt %s -split-input-file -verify-diagnostics

func.func @bits(%x: tensor<8xi8>) {
  // expected-error @+1 {{expects 1 to 8 bits, but got 9}}
  %p = fad.pack %x bits 9 : tensor<8xi8> -> tensor<9xi8>
  return
}

// -----

func.func @no_bits(%x: tensor<8xi8>) {
  // expected-error @+1 {{expects 1 to 8 bits, but got 0}}
  %p = fad.unpack %x bits 0 : tensor<8xi8> -> tensor<8xi8>
  return
}

// -----

func.func @bytes(%x: tensor<3x3xi8>) {
  // expected-error @+1 {{expects 2 bytes for 9 numbers of 1 bit, but got 1}}
  %p = fad.pack %x bits 1 : tensor<3x3xi8> -> tensor<1xi8>
  return
}

// -----

func.func @numbers(%x: tensor<4xi8>) {
  // expected-error @+1 {{expects 5 bytes for 9 numbers of 4 bits, but got 4}}
  %p = fad.unpack %x bits 4 : tensor<4xi8> -> tensor<3x3xi8>
  return
}

// -----

func.func @across(%x: tensor<9xi8>) {
  // expected-error @+1 {{expects 4 bytes for 9 numbers of 3 bits, but got 3}}
  %p = fad.pack %x bits 3 : tensor<9xi8> -> tensor<3xi8>
  return
}

// -----

func.func @sizes(%x: tensor<?xi8>, %n: index) {
  // expected-error @+1 {{expects one size for each of the 2 dynamic dimensions of 'tensor<?x?xi8>', but got 1}}
  %p = fad.unpack %x bits 4 sizes(%n) : tensor<?xi8> -> tensor<?x?xi8>
  return
}

// -----

func.func @rank(%x: tensor<8x8xi8>) {
  // expected-error @+1 {{result #0 must be a tensor of i8 of rank 1, but got 'tensor<8x1xi8>'}}
  %p = fad.pack %x bits 1 : tensor<8x8xi8> -> tensor<8x1xi8>
  return
}

// -----

func.func @element(%x: tensor<8xi1>) {
  // expected-error @+1 {{operand #0 must be a ranked tensor of i8, but got 'tensor<8xi1>'}}
  %p = fad.pack %x bits 1 : tensor<8xi1> -> tensor<1xi8>
  return
}
