"""Memory that autograd holds after a forward pass, measured."""
