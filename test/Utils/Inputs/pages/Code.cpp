// Of this colour.
int colour; /// Centred.
