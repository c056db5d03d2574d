// Cells of neighbours.
def Pass { let summary = "Minimise what is kept"; }
// What a pass has.
