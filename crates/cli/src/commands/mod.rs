//! The verbs, one file each.

pub(crate) mod accounts;
pub(crate) mod baseline;
pub(crate) mod completions;
pub(crate) mod dataset;
pub(crate) mod db;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod estimate;
pub(crate) mod export;
pub(crate) mod init;
pub(crate) mod judging;
pub(crate) mod list;
pub(crate) mod metric;
pub(crate) mod reference;
pub(crate) mod rescore;
pub(crate) mod resume;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod signing_in;
pub(crate) mod stats;
pub(crate) mod weights;
