//! `stats ab` and `stats power`.

use fullbench_analysis::power::{self, PowerDesign, PowerOptions};

use super::print;
use crate::arguments::stats::{DesignChoice, PowerArguments};
use crate::failure::{CliError, Exit};

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
