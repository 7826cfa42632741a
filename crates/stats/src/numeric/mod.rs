//! Roots and integrals of functions of one variable.

mod quadrature;
mod root;

pub(crate) use quadrature::integrate;
pub(crate) use root::root_between;
