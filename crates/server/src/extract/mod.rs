//! What handlers get from a request; each part that is missing or wrong is refused with a problem document.

mod body;
mod etag;
mod idempotency;
mod paging;
mod parameters;
mod resent;

pub(crate) use body::{Body, given};
pub(crate) use etag::{Etagged, IfMatch};
pub(crate) use idempotency::{InFlight, InProgress, Kept, MAX_KEY, NewId, once};
pub(crate) use paging::{PageQuery, has_more, page, slice, usual_limit};
pub(crate) use parameters::{PathParts, Query};
