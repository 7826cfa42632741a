//! Judges against people: correlation, bias, and estimates corrected by a few human labels.
