"""What autograd holds after a forward pass, measured."""
