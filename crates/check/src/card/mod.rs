//! The report card: what a judge's scores of the probes say.

mod agreement;
mod attacks;
mod changes;
mod conclusion;
mod corrected;
mod data;
mod family;
mod findings;
mod grids;
mod panel;
mod position;
mod replies;
mod retest;
mod rules;
mod verbosity;

use fullbench_analysis::{Conclusion, Grid, Report};
use fullbench_stats::random_stream;
use rand::RngExt;
use serde::Serialize;

pub use agreement::{
    Agreement, Confused, CorrelationLevel, CorrelationLine, PairAgreement, SingleAgreement,
};
pub use attacks::{AttackLine, AttackSection};
pub use changes::{Change, ChangeLine, FormattingSection};
pub use corrected::{Corrected, CorrectedMean, LabelsWanted};
pub use family::{SelfPreference, family};
pub use findings::{Finding, Section};
pub use panel::{MemberLine, PanelRow, PanelSection};
pub use position::PositionSection;
pub use replies::{ReplySection, UnscoredLine};
pub use retest::RetestSection;
pub use rules::State;
pub use verbosity::VerbositySection;

use crate::{CardOptions, Example, Judged, Observed, ProbeCase};
use data::Data;

/// More points than this no plot needs.
const MOST_POINTS: usize = 2_000;
/// Stream of the seed that draws the points.
const POINT_STREAM: u64 = 1_000_003;

/// The report card of a judge.
#[derive(Debug, Clone, Serialize)]
pub struct Card {
    /// What it is about, and how its numbers were made.
    pub options: CardOptions,
    /// What the judge takes.
    pub judged: Judged,
    /// The pass mark that verdicts were made by; of pairs, what lies above it is preferred.
    pub mark: f64,
    /// Whether the mark is the judge's own; 0.5 was used where it has none.
    pub mark_is_given: bool,
    /// Examples.
    pub examples: usize,
    /// Ratings of people that are no number from 0 to 1, and were left out.
    pub unusable_ratings: usize,
    /// A line for each section.
    pub findings: Vec<Finding>,
    /// What it means, and what to do next.
    pub conclusion: Conclusion,
    /// Agreement with people.
    pub agreement: Agreement,
    /// Whether the judge says the same again.
    pub retest: RetestSection,
    /// Whether the order of a pair decides.
    pub position: PositionSection,
    /// Whether it likes long answers.
    pub verbosity: VerbositySection,
    /// Whether it likes answers of its own family.
    pub self_preference: SelfPreference,
    /// Whether the form of an answer moves it.
    pub formatting: FormattingSection,
    /// Whether texts that are no answers pass.
    pub attacks: AttackSection,
    /// Replies that could not be used, and what judging takes.
    pub replies: ReplySection,
    /// The mean that people would give; none where it was not asked for.
    pub corrected: Option<Corrected>,
    /// The members of a panel; none for a single judge.
    pub panel: Option<PanelSection>,
    /// Labelled answers, for a plot: at most 2,000, drawn by the seed.
    pub points: Vec<Point>,
}

/// A labelled answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// What people said.
    pub human: f64,
    /// What the judge said.
    pub judge: f64,
    /// Who gave the answer.
    pub system: Option<String>,
}

/// Reads a judge's report card from its scores of the probes that [`probes`](crate::probes) planned for these examples.
///
/// Observations come in any order; of several of one probe the first counts, and what was not observed is counted. Scores and ratings
/// that are no number from 0 to 1 are left out and counted.
#[must_use]
pub fn card(
    examples: &[Example],
    probes: &[ProbeCase],
    observed: &[Observed],
    options: &CardOptions,
) -> Card {
    let data = Data::new(examples, probes, observed, options);
    let retest = retest::of(&data);
    let mut card = Card {
        options: options.clone(),
        judged: data.judged,
        mark: data.mark,
        mark_is_given: data.judged == Judged::Single && options.mark == Some(data.mark),
        examples: examples.len(),
        unusable_ratings: data.unusable_ratings,
        findings: Vec::new(),
        conclusion: Conclusion::default(),
        agreement: agreement::of(&data),
        formatting: changes::formatting(&data, &retest.within_deviation),
        retest,
        position: position::of(&data),
        verbosity: verbosity::of(&data),
        self_preference: family::of(&data),
        attacks: attacks::of(&data),
        replies: replies::of(&data),
        corrected: corrected::of(&data),
        panel: panel::of(&data),
        points: points(&data),
    };
    card.findings = findings::of(&card);
    card.conclusion = conclusion::of(&card);
    card
}

fn points(data: &Data<'_>) -> Vec<Point> {
    let mut chosen: Vec<usize> = (0..data.labelled.len()).collect();
    if chosen.len() > MOST_POINTS {
        let mut random = random_stream(data.options.seed, POINT_STREAM);
        for place in 0..MOST_POINTS {
            let from = random.random_range(place..chosen.len());
            chosen.swap(place, from);
        }
        chosen.truncate(MOST_POINTS);
        chosen.sort_unstable();
    }
    let point = |index: usize| {
        let one = &data.labelled[index];
        let system = data.examples[one.example].system.clone();
        Point { human: one.human, judge: one.judge, system }
    };
    chosen.into_iter().map(point).collect()
}

impl Card {
    /// The finding of a section.
    #[must_use]
    pub fn finding(&self, section: Section) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.section == section)
    }
}

impl Report for Card {
    fn grids(&self) -> Vec<Grid> {
        grids::of(self)
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
