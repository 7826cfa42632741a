//! `stats ab` and `stats power`.

use std::path::PathBuf;

use fullbench_analysis::ab::{self, AbInput, AbMethod, AbOptions, AbPrior, SequentialKind};
use fullbench_analysis::power::{self, PowerDesign, PowerOptions};

use fullbench_stats::experiment::Spending;

use super::print;
use crate::arguments::stats::{
    AbArguments, DesignChoice, MethodOfAb, PowerArguments, PriorChoice, SequentialChoice,
    SpendingChoice,
};
use crate::failure::{CliError, Exit};

pub(super) fn ab(arguments: &AbArguments) -> Result<Exit, CliError> {
    let input = match (&arguments.file, &arguments.treatment) {
        (Some(file), _) => {
            AbInput::Variants { file: file.clone(), control: arguments.control.clone() }
        }
        (None, treatment) => AbInput::Files {
            control: PathBuf::from(&arguments.control),
            treatment: treatment.clone().unwrap_or_default(),
        },
    };
    let looking = &arguments.looking;
    let options = AbOptions {
        method: match arguments.method {
            MethodOfAb::Frequentist => AbMethod::Frequentist,
            MethodOfAb::Bayesian => AbMethod::Bayesian,
            MethodOfAb::Sequential => AbMethod::Sequential,
        },
        alpha: arguments.alpha,
        expected_share: arguments.expected_share,
        prior: arguments.prior.map(|prior| match prior {
            PriorChoice::Weak => AbPrior::Weak,
            PriorChoice::Thousandth => AbPrior::Thousandth,
            PriorChoice::Reference => AbPrior::Reference,
        }),
        sequential: looking.sequential.map(|sequential| match sequential {
            SequentialChoice::ConfidenceSequence => SequentialKind::ConfidenceSequence,
            SequentialChoice::Msprt => SequentialKind::Msprt,
            SequentialChoice::ObrienFleming => SequentialKind::OBrienFleming,
            SequentialChoice::Pocock => SequentialKind::Pocock,
            SequentialChoice::Spending => SequentialKind::Spending,
        }),
        spending: looking.spending.map(|spending| match spending {
            SpendingChoice::ObrienFleming => Spending::OBrienFleming,
            SpendingChoice::Pocock => Spending::Pocock,
        }),
        planned_looks: looking.planned_looks,
        planned_units: looking.planned_units,
        looks: looking.looks,
        tau: looking.tau,
        columns: arguments.table.columns.clone(),
    };
    print(&ab::ab(&input, &options)?, arguments.table.output)
}

pub(super) fn power(arguments: &PowerArguments) -> Result<Exit, CliError> {
    let spread = &arguments.spread;
    let options = PowerOptions {
        design: match arguments.design {
            DesignChoice::Independent => PowerDesign::Independent,
            DesignChoice::Paired => PowerDesign::Paired,
            DesignChoice::Clustered => PowerDesign::Clustered,
        },
        units: arguments.cases,
        effect: arguments.effect,
        power: arguments.power,
        alpha: arguments.alpha,
        standard_deviation: spread.deviation,
        rate: spread.rate,
        correlation: spread.correlation,
        changed: spread.changed,
        ratio: spread.ratio,
        cluster_size: spread.cluster_size,
        size_variation: spread.size_variation,
        intra_cluster_correlation: spread.intra_cluster,
        repetitions: spread.repetitions,
        within_share: spread.within_share,
        columns: arguments.table.columns.clone(),
    };
    print(&power::power(arguments.pilot.as_deref(), &options)?, arguments.table.output)
}
