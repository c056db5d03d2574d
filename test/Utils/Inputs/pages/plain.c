/* What a comment of C says. */
// Of what there is.
