//! Roots and integrals of functions of one variable.

mod quadrature;
mod root;

pub(crate) use quadrature::{integrate, integrate_pieces, panel_nodes};
pub(crate) use root::root_between;
