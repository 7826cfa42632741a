//! `stats correlate` and `stats ppi`.

use fullbench_analysis::correlate::{self, CorrelateOptions};
use fullbench_analysis::ppi::{self, PpiOptions};

use super::print;
use crate::arguments::stats::{CorrelateArguments, PpiArguments};
use crate::failure::{CliError, Exit};

pub(super) fn correlate(arguments: &CorrelateArguments) -> Result<Exit, CliError> {
    let options = CorrelateOptions {
        columns: arguments.table.columns.clone(),
        confidence: arguments.confidence.confidence,
        labels: arguments.labels,
        rounds: arguments.resampling.rounds,
        seed: arguments.resampling.seed,
    };
    print(&correlate::correlate(&arguments.file, &options)?, arguments.table.output)
}

pub(super) fn ppi(arguments: &PpiArguments) -> Result<Exit, CliError> {
    let options = PpiOptions {
        columns: arguments.table.columns.clone(),
        confidence: arguments.confidence.confidence,
        half_width: arguments.half_width,
    };
    print(&ppi::ppi(&arguments.file, &options)?, arguments.table.output)
}
