// RUN: %python %S/Inputs/check_bf16.py fad-opt %llvm_tools_dir %mlir_lib_dir %cxx %s

func.func @from_f32(%x: tensor<?xf32>) -> tensor<?xbf16> {
  %0 = arith.truncf %x : tensor<?xf32> to tensor<?xbf16>
  return %0 : tensor<?xbf16>
}

func.func @from_f64(%x: tensor<?xf64>) -> tensor<?xbf16> {
  %0 = arith.truncf %x : tensor<?xf64> to tensor<?xbf16>
  return %0 : tensor<?xbf16>
}

func.func @to_f64(%x: tensor<?xbf16>) -> tensor<?xf64> {
  %0 = arith.extf %x : tensor<?xbf16> to tensor<?xf64>
  return %0 : tensor<?xf64>
}

func.func @away_from_f32(%x: tensor<?xf32>) -> tensor<?xbf16> {
  %0 = arith.truncf %x to_nearest_away : tensor<?xf32> to tensor<?xbf16>
  return %0 : tensor<?xbf16>
}

func.func @away_from_f64(%x: tensor<?xf64>) -> tensor<?xbf16> {
  %0 = arith.truncf %x to_nearest_away : tensor<?xf64> to tensor<?xbf16>
  return %0 : tensor<?xbf16>
}
