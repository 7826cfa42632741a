//! The report card of a judge: which probes to put before it, and what its scores of them say.
//!
//! [`probes`] turns examples into answers to judge: the answers as they are, again, formatted otherwise, padded, attacked. [`card`] reads
//! from the scores how far the judge can be trusted. Pure functions: nothing here asks a model, reads a file or prints.

mod card;
mod estimate;
mod example;
mod observed;
mod options;
mod probe;
mod words;

pub use card::{
    Agreement, AttackLine, AttackSection, Card, Change, ChangeLine, Confused, Corrected,
    CorrectedMean, CorrelationLevel, CorrelationLine, Finding, FormattingSection, LabelsWanted,
    MemberLine, PairAgreement, PanelRow, PanelSection, Point, PositionSection, ReplySection,
    RetestSection, Section, SelfPreference, SingleAgreement, State, UnscoredLine, VerbositySection,
    card, family,
};
pub use estimate::Estimate;
pub use example::{Example, Rating};
pub use observed::Observed;
pub use options::CardOptions;
pub use probe::{FormatChange, Judged, Probe, ProbeCase, ProbeOptions, probes};
