//! `stats agreement` and `stats aggregate`.

use fullbench_analysis::aggregate::{self, AggregateOptions, Method};
use fullbench_analysis::agreement::{self, AgreementOptions};
use fullbench_stats::agreement::Level;

use super::print;
use crate::arguments::stats::{
    AggregateArguments, AgreementArguments, LabelChoice, LevelChoice, MethodChoice,
};
use crate::failure::{CliError, Exit};

pub(super) fn agreement(arguments: &AgreementArguments) -> Result<Exit, CliError> {
    let options = AgreementOptions {
        columns: arguments.table.columns.clone(),
        level: level(arguments.level),
        order: arguments.order.clone(),
        rounds: arguments.resampling.rounds,
        confidence: arguments.confidence.confidence,
        seed: arguments.resampling.seed,
    };
    print(&agreement::agreement(&arguments.file, &options)?, arguments.table.output)
}

pub(super) fn aggregate(arguments: &AggregateArguments) -> Result<Exit, CliError> {
    let options = AggregateOptions {
        columns: arguments.table.columns.clone(),
        method: match arguments.method {
            MethodChoice::Majority => Method::Majority,
            MethodChoice::Weighted => Method::Weighted,
            MethodChoice::DawidSkene => Method::DawidSkene,
            MethodChoice::Mace => Method::Mace,
        },
        level: match arguments.level {
            LabelChoice::Nominal => Level::Nominal,
            LabelChoice::Ordinal => Level::Ordinal,
        },
        order: arguments.order.clone(),
        iterations: arguments.iterations,
        restarts: arguments.restarts,
        confidence: arguments.confidence.confidence,
        seed: arguments.seed,
    };
    print(&aggregate::aggregate(&arguments.file, &options)?, arguments.table.output)
}

fn level(choice: LevelChoice) -> Level {
    match choice {
        LevelChoice::Nominal => Level::Nominal,
        LevelChoice::Ordinal => Level::Ordinal,
        LevelChoice::Interval => Level::Interval,
        LevelChoice::Ratio => Level::Ratio,
    }
}
