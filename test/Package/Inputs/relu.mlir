func.func @f(%x: f32) -> f32 {
  %y = fad.relu %x : f32
  return %y : f32
}
