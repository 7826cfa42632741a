//! How far annotators agree.
