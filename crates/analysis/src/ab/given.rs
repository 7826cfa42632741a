//! Options that contradict each other, or that the chosen method would not use.

use super::data::Data;
use super::{AbMethod, AbOptions, SequentialKind};
use crate::AnalysisError;

/// More looks than this are no table that anybody reads.
const MOST_LOOKS: usize = 10_000;

impl SequentialKind {
    /// How the command line calls it.
    pub(super) fn flag(self) -> &'static str {
        match self {
            Self::ConfidenceSequence => "--sequential confidence-sequence",
            Self::Msprt => "--sequential msprt",
            Self::OBrienFleming => "--sequential obrien-fleming",
            Self::Pocock => "--sequential pocock",
            Self::Spending => "--sequential spending",
        }
    }

    /// Its looks are planned before the first; otherwise it is valid at any time.
    pub(super) fn is_planned(self) -> bool {
        !matches!(self, Self::ConfidenceSequence | Self::Msprt)
    }
}

/// Refuses numbers that mean nothing, and options that would be ignored.
pub(super) fn check(options: &AbOptions) -> Result<(), AnalysisError> {
    for (name, flag, value, usual) in [
        ("alpha", "--alpha", options.alpha, "0.05"),
        ("expected share", "--expected-share", options.expected_share, "0.5"),
    ] {
        if !(value > 0.0 && value < 1.0) {
            return Err(AnalysisError::question(
                format!("the {name} is {value}, and must be between 0 and 1"),
                format!("leave out `{flag}` for {usual}"),
            ));
        }
    }
    if let Some(tau) = options.tau.filter(|tau| !(*tau > 0.0 && tau.is_finite())) {
        return Err(AnalysisError::question(
            format!("tau is {tau}, and must be positive"),
            "`--tau` is the size of difference to be found, in standard deviations: 0.2 is small",
        ));
    }
    for (flag, count) in [
        ("--looks", options.looks.map(|looks| looks as u64)),
        ("--planned-looks", options.planned_looks.map(|looks| looks as u64)),
        ("--planned-units", options.planned_units),
    ] {
        if count == Some(0) {
            return Err(AnalysisError::question(
                format!("`{flag}` is 0"),
                format!("give `{flag}` a number of 1 or more"),
            ));
        }
    }
    if let Some(looks) = options.looks.filter(|looks| *looks > MOST_LOOKS) {
        return Err(AnalysisError::question(
            format!("`--looks` is {looks}, and at most {MOST_LOOKS} are shown"),
            "how many looks are shown changes nothing about the test: 10 are shown without `--looks`",
        ));
    }
    used(options)
}

/// Refuses options that the chosen method does not use: whoever gives one believes that it counts.
fn used(options: &AbOptions) -> Result<(), AnalysisError> {
    let refused = |flag: &str, needs: &str| {
        Err(AnalysisError::question(
            format!("`{flag}` is only used with {needs}"),
            format!("add {needs}, or leave out `{flag}`"),
        ))
    };
    if options.prior.is_some() && options.method != AbMethod::Bayesian {
        return refused("--prior", "`--method bayesian`");
    }
    let sequential = [
        ("--sequential", options.sequential.is_some()),
        ("--spending", options.spending.is_some()),
        ("--planned-looks", options.planned_looks.is_some()),
        ("--planned-units", options.planned_units.is_some()),
        ("--looks", options.looks.is_some()),
        ("--tau", options.tau.is_some()),
    ];
    if options.method != AbMethod::Sequential {
        return match sequential.iter().find(|(_, given)| *given) {
            Some((flag, _)) => refused(flag, "`--method sequential`"),
            None => Ok(()),
        };
    }
    let kind = options.sequential.unwrap_or_default();
    if options.spending.is_some() && kind != SequentialKind::Spending {
        return refused("--spending", "`--sequential spending`");
    }
    if options.tau.is_some() && kind != SequentialKind::Msprt {
        return refused("--tau", "`--sequential msprt`");
    }
    if options.planned_looks.is_some() && !kind.is_planned() {
        return refused(
            "--planned-looks",
            "`--sequential obrien-fleming`, `--sequential pocock` or `--sequential spending`",
        );
    }
    if options.planned_units.is_some() && kind == SequentialKind::Msprt {
        return Err(AnalysisError::question(
            "`--planned-units` is not used by `--sequential msprt`",
            "this test is tuned by `--tau`; leave out `--planned-units`",
        ));
    }
    if options.looks.is_some() && kind.is_planned() {
        return Err(AnalysisError::question(
            format!("`--looks` is not used by `{}`, which plans its looks", kind.flag()),
            "give the number of planned looks as `--planned-looks`, and leave out `--looks`",
        ));
    }
    Ok(())
}

/// Refuses `--looks` where the file says when its values came.
pub(super) fn check_looks(data: &Data, options: &AbOptions) -> Result<(), AnalysisError> {
    if options.looks.is_some() && data.looks.is_some() {
        return Err(AnalysisError::question(
            "`--looks` is given, and a column `look` or `day` of the file says when the looks were",
            "leave out `--looks`, or the column",
        ));
    }
    Ok(())
}
