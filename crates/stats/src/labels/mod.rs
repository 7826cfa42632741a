//! One label from many annotators.
