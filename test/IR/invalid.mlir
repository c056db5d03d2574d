// RUN: fad-opt %s -split-input-file -verify-diagnostics

func.func @primitive_on_integer(%x: i32) {
  // expected-error @+1 {{operand #0 must be f16, bf16, f32 or f64, or a vector or ranked tensor of them, but got 'i32'}}
  %0 = "fad.gelu"(%x) : (i32) -> i32
  return
}

// -----

func.func @primitive_on_f8(%x: f8E4M3FN) {
  // expected-error @+1 {{operand #0 must be f16, bf16, f32 or f64, or a vector or ranked tensor of them, but got 'f8E4M3FN'}}
  %0 = "fad.sigmoid"(%x) : (f8E4M3FN) -> f8E4M3FN
  return
}

// -----

func.func @primitive_on_unranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{operand #0 must be f16, bf16, f32 or f64, or a vector or ranked tensor of them, but got 'tensor<*xf32>'}}
  %0 = "fad.relu"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @primitive_changes_type(%x: f32) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "fad.silu"(%x) : (f32) -> f64
  return
}

// -----

func.func @gelu_form(%x: f32) {
  // expected-error @+2 {{expected ::mlir::fad::GeluApproximation to be one of: none, tanh}}
  // expected-error @+1 {{failed to parse Fad_GeluApproximationAttr parameter 'value'}}
  %0 = fad.gelu %x approximate <erf> : f32
  return
}

// -----

func.func @celu_of_zero(%x: f32) {
  // expected-error @+1 {{attribute 'alpha' failed to satisfy constraint: 64-bit float attribute that is not zero}}
  %0 = fad.celu %x alpha 0.0 : f32
  return
}

// -----

func.func @no_tensor(%x: f32) {
  // expected-error @+1 {{expects at least one operand to be a ranked tensor; the results take their shape from it}}
  %0 = fad.elementwise ins(%x : f32) -> tensor<f32> {
  ^bb0(%a: f32):
    fad.yield %a : f32
  }
  return
}

// -----

func.func @no_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects at least one result}}
  "fad.elementwise"(%x) ({
  ^bb0(%a: f32):
    "fad.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @vector_operand(%x: tensor<4xf32>, %v: vector<4xf32>) {
  // expected-error @+1 {{expects each operand to be a ranked tensor or a scalar, but got 'vector<4xf32>'}}
  %0 = fad.elementwise ins(%x, %v : tensor<4xf32>, vector<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: vector<4xf32>):
    fad.yield %a : f32
  }
  return
}

// -----

func.func @shapes_differ(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{expects all tensor operands and results to have one shape; broadcast explicitly (linalg.broadcast) first}}
  %0 = fad.elementwise ins(%x, %y : tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    fad.yield %a : f32
  }
  return
}

// -----

func.func @ranks_differ(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects all tensor operands and results to have one shape; broadcast explicitly (linalg.broadcast) first}}
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<1x4xf32> {
  ^bb0(%a: f32):
    fad.yield %a : f32
  }
  return
}

// -----

func.func @argument_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects one body argument for each of its 1 operands, but got 2}}
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    fad.yield %a : f32
  }
  return
}

// -----

func.func @argument_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects body argument 0 to have type 'f32', but got 'f64'}}
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf64> {
  ^bb0(%a: f64):
    fad.yield %a : f64
  }
  return
}

// -----

func.func @yield_count(%x: tensor<4xf32>) {
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{expects one value for each of the 1 results, but got 2}}
    fad.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @yield_type(%x: tensor<4xf32>) {
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf64> {
  ^bb0(%a: f32):
    // expected-error @+1 {{expects value 0 to have type 'f64', but got 'f32'}}
    fad.yield %a : f32
  }
  return
}

// -----

func.func @not_isolated(%x: tensor<4xf32>, %s: f32) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{using value defined outside the region}}
    %1 = arith.mulf %a, %s : f32
    fad.yield %1 : f32
  }
  return
}

// -----

func.func private @print(f32)

func.func @side_effect(%x: tensor<4xf32>) {
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{has side effects, which the body of fad.elementwise may not have}}
    func.call @print(%a) : (f32) -> ()
    fad.yield %a : f32
  }
  return
}

// -----

func.func @yield_elsewhere(%x: f32) {
  // expected-error @+1 {{expects parent op 'fad.elementwise'}}
  fad.yield %x : f32
}

// -----

func.func @residual_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{failed to verify that all of {value, result} have same type}}
  %0 = "fad.residual"(%x) {needed_by = [], reason = ""} : (tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

// expected-error @+1 {{expects 'fad.request' to be #fad.request<...>}}
func.func @request_kind(%x: tensor<4xf32>) attributes {fad.request} {
  return
}

// -----

// expected-error @+1 {{'fad.request' names argument 1, but the function has 1}}
func.func @request_argument(%x: tensor<4xf32>) attributes {fad.request = #fad.request<wrt = [1]>} {
  return
}

// -----

// expected-error @+1 {{'fad.request' names result 1, but the function has 1}}
func.func @request_result(%x: tensor<4xf32>) -> tensor<4xf32> attributes {fad.request = #fad.request<results = [1]>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+2 {{expected '['}}
func.func @request_form(%x: tensor<4xf32>)
    attributes {fad.request = #fad.request<results = 0>} {
  return
}

// -----

func.func @request_place(%x: f32) {
  // expected-error @+1 {{'fad.request' belongs on a function; move it to one}}
  %0 = math.exp %x {fad.request = #fad.request<>} : f32
  return
}

// -----

func.func @class_kind(%x: f32) {
  // expected-error @+1 {{expects 'fad.class' to be #fad.class<fad> or #fad.class<nfad>}}
  %0 = math.exp %x {fad.class = "fad"} : f32
  return
}

// -----

func.func @region_kind(%x: f32) {
  // expected-error @+1 {{expects 'fad.region' to be a non-negative 64-bit integer}}
  %0 = math.exp %x {fad.region = -1} : f32
  return
}

// -----

func.func @tape_kind(%x: f32) {
  // expected-error @+1 {{expects 'fad.tape' to be a unit attribute}}
  %0 = math.exp %x {fad.tape = 1} : f32
  return
}

// -----

func.func @shares_ties_kind(%x: f32) {
  // expected-error @+1 {{expects 'fad.shares_ties' to be a unit attribute}}
  %0 = arith.maximumf %x, %x {fad.shares_ties = true} : f32
  return
}

// -----

func.func @adjoint_of_kind(%x: f32) {
  // expected-error @+1 {{expects 'fad.adjoint_of' to be the name of an operation}}
  %0 = math.exp %x {fad.adjoint_of} : f32
  return
}

// -----

func.func @cotangent_place(%x: f32) {
  // expected-error @+1 {{'fad.cotangent' belongs on an argument or result of a function}}
  %0 = math.exp %x {fad.cotangent = 0} : f32
  return
}

// -----

// expected-error @+1 {{expects 'fad.cotangent' to be a non-negative 64-bit integer}}
func.func @cotangent_kind(%x: f32 {fad.cotangent = "x"}) {
  return
}

// -----

// expected-error @+1 {{expects 'fad.gradient' to be a non-negative 64-bit integer}}
func.func @gradient_kind(%x: f32) -> (f32 {fad.gradient = 0 : i32}) {
  return %x : f32
}

// -----

func.func @residual_error(%x: f32) {
  // expected-error @+1 {{attribute 'largest_error' failed to satisfy constraint: 64-bit float attribute that is finite and not negative}}
  %0 = fad.residual %x needed_by [] reason "" {largest_error = 0x7FF0000000000000 : f64} : f32
  return
}

// -----

func.func @residual_error_negative(%x: f32) {
  // expected-error @+1 {{attribute 'mean_square_error' failed to satisfy constraint: 64-bit float attribute that is finite and not negative}}
  %0 = fad.residual %x needed_by [] reason "" {mean_square_error = -1.0 : f64} : f32
  return
}

// -----

// expected-error @+1 {{expects 'fad.residual' to be a unit attribute}}
func.func @residual_kind(%x: f32 {fad.residual = 1}) {
  return
}

// -----

// expected-error @+1 {{expects 'fad.owned' to be a unit attribute}}
func.func @owned_kind(%x: tensor<4xf32> {fad.owned = true}) {
  return
}

// -----

// expected-error @+1 {{'fad.owned' belongs on an argument, but is on result 0; remove it: what is returned is the caller's}}
func.func @owned_result(%x: tensor<4xf32>) -> (tensor<4xf32> {fad.owned}) {
  return %x : tensor<4xf32>
}

// -----

func.func @owned_place(%x: f32) {
  // expected-error @+1 {{'fad.owned' belongs on an argument of a function; move it to one}}
  %0 = math.exp %x {fad.owned} : f32
  return
}

// -----

// expected-error @+1 {{'fad.owned' belongs on an argument of a function; move it to one}}
func.func @owned_function(%x: f32) attributes {fad.owned} {
  return
}

// -----

// expected-error @+1 {{expects 'fad.pullback' on a function, to name its backward function}}
func.func @pullback_kind(%x: f32) attributes {fad.pullback = "f"} {
  return
}

// -----

func.func @pullback_place(%x: f32) {
  // expected-error @+1 {{expects 'fad.pullback' on a function, to name its backward function}}
  %0 = math.exp %x {fad.pullback = @pullback_place} : f32
  return
}

// -----

func.func @kernel_kind(%x: f32) {
  // expected-error @+1 {{expects 'fad.kernel' to name a kernel}}
  %0 = math.exp %x {fad.kernel = "k"} : f32
  return
}

// -----

func.func @tile_size_kind(%x: f32) {
  // expected-error @+1 {{expects 'fad.tile_size' to be a non-negative 64-bit integer}}
  %0 = math.exp %x {fad.tile_size = "x"} : f32
  return
}

// -----

func.func @detach_scalar(%x: f32) -> f32 {
  // expected-error @+1 {{'fad.detach' op operand #0 must be a ranked tensor of f16, bf16, f32 or f64, but got 'f32'}}
  %0 = "fad.detach"(%x) : (f32) -> f32
  return %0 : f32
}

// -----

func.func @detach_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{'fad.detach' op operand #0 must be a ranked tensor of f16, bf16, f32 or f64, but got 'tensor<4xi32>'}}
  %0 = fad.detach %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}
