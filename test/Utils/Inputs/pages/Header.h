/// What a class is.
int x;
