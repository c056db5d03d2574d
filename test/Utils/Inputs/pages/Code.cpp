// Of this colour.
int colour; /// Centred.
// In bytes that could be
// moved meanwhile; in a string, "spread among zeros".
