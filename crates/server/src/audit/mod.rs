//! What is written into the audit log, and by whom: the guard notes every request that changes something before it is carried
//! out and after, handlers say what was there before and after, and jobs of the server note what they do.

mod note;
mod trail;
mod writer;

pub(crate) use note::AuditNote;
pub(crate) use trail::{Audited, RequestId, Trail};
pub(crate) use writer::AuditWriter;
