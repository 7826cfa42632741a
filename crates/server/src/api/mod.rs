//! The endpoints as data: what each takes, gives and refuses, and who answers it. Routes and the OpenAPI document are made of
//! the same list, so that neither can be forgotten.

mod document;
mod endpoint;
mod page;

pub(crate) use document::openapi;
#[cfg(test)]
pub(crate) use endpoint::Audit;
pub(crate) use endpoint::Endpoint;
pub(crate) use page::docs_page;
