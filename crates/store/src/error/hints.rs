//! What to do about an error, for people.

use super::{ConnectionProblem, EntityKind, StoreError};

impl StoreError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::RunNotFound(_) => Some(
                "`fullbench list` shows the runs there are, `fullbench baseline list` the baselines",
            ),
            Self::RunAmbiguous { .. } => Some("give more letters of the id"),
            Self::BaselineNotFound(_) => {
                Some("`fullbench baseline list` shows the baselines there are")
            }
            Self::BaselineIsRun(_) => {
                Some("choose a name that no run has and that is not part of an id")
            }
            Self::BaselineName(_) => Some("use up to 100 letters without spaces"),
            Self::NameNotFound { kind, .. } => match kind {
                EntityKind::Criterion => {
                    Some("`fullbench criterion list` shows the criteria there are")
                }
                EntityKind::Judge | EntityKind::Method | EntityKind::Model => {
                    Some("`fullbench judge list` shows the judges there are")
                }
                _ => None,
            },
            Self::NameTaken { kind, .. } => match kind {
                EntityKind::Judge => {
                    Some("choose another name, or make a successor of the judge that has it")
                }
                EntityKind::Criterion => {
                    Some("choose another name, or make a new revision of the one that has it")
                }
                _ => Some("choose another name"),
            },
            Self::TooMany {
                kind:
                    EntityKind::Webhook
                    | EntityKind::AlertRule
                    | EntityKind::Dataset
                    | EntityKind::DatasetVersion
                    | EntityKind::Baseline
                    | EntityKind::ProviderKey
                    | EntityKind::ApiKey
                    | EntityKind::User,
                ..
            } => Some("remove what is not needed any more"),
            Self::TooMany { .. } => Some("go on with one that is there"),
            Self::TooLong { .. } => Some("leave out what nobody reads"),
            Self::NameInvalid { kind: EntityKind::Judge, .. } => Some(
                "use up to 100 lower-case letters, digits, `_`, `-` and `.`, a letter or digit first",
            ),
            Self::NameInvalid { .. } => {
                Some("use up to 100 lower-case letters, digits and `_`, a letter or digit first")
            }
            Self::Immutable { kind: EntityKind::Model, .. } => Some(
                "give the model a `name` of its own, or put what differs into the judge's parameters",
            ),
            Self::Immutable { kind: EntityKind::DatasetVersion, .. } => {
                Some("upload a new version")
            }
            Self::Immutable { kind: EntityKind::Dataset, .. } => {
                Some("deprecate its published versions first")
            }
            Self::Immutable { .. } => Some("add your own under another name"),
            Self::InUse { .. } => Some("cancel the run, or wait for its end"),
            Self::BeingValidated => Some("wait until its `validation_status` is VALID or INVALID"),
            Self::ReferenceGone(_) => Some("look at what is there now"),
            Self::LastOwner(_) => Some("make somebody else an owner first"),
            Self::NoRoom { .. } => Some("remove data sets that are not needed any more"),
            Self::ChangedMeanwhile { .. } => Some("look at what it is now, and try again"),
            Self::ThresholdInvalid(_) => {
                Some("a scale's worst is 0 and its best 1: 4 of 1 to 5 is 0.75")
            }
            Self::RunLocked(_) => Some("wait for it to end, or stop it with Ctrl-C"),
            Self::NewerDatabase { .. } => {
                Some("update fullbench, or use another folder with FULLBENCH_HOME")
            }
            Self::NothingStored(_) => {
                Some("say where with --home or --database; `fullbench run` starts a run")
            }
            Self::NotEmpty(_) => {
                Some("name another folder with --home, or another database with --database")
            }
            Self::NewerTables(_) => Some(
                "restore into a database without tables; what is newer is added to it afterwards",
            ),
            Self::FileExists(_) => Some("choose another name, or replace it with --force"),
            Self::KeyFile { .. } => Some(
                "bring the file back as it was, or give the key with FULLBENCH_SECRET_KEY; \
                 without it what is sealed cannot be read",
            ),
            Self::MasterKeyUnknown(_) => Some(
                "bring `secret.key` of the home folder along, or set FULLBENCH_SECRET_KEY, and \
                 FULLBENCH_SECRET_KEY_OLD to the keys before; `fullbench secrets status` names them",
            ),
            Self::TextsDeleted => {
                Some("numbers of what was done before stay: `fullbench show` and `fullbench diff`")
            }
            Self::DatabaseDown(_) => {
                Some("try again; if it lasts, look whether the database runs and has room")
            }
            Self::Busy => Some("allow more connections, or let fewer runs go on at once"),
            Self::LogInUse => Some(
                "wait until backups, exports and long reads have ended and try again: it is emptied then",
            ),
            Self::DatabaseUrl(_) => Some(
                "write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with letters such as `@` and `/` in the \
                 password as `%40` and `%2F`",
            ),
            Self::ObjectsUrl { .. } => Some("write s3://BUCKET/PREFIX or file:///FOLDER"),
            Self::Objects { .. } => Some(
                "check the bucket, and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL",
            ),
            Self::Unconnected { problem, .. } => match problem {
                ConnectionProblem::Unreachable => {
                    Some("check that the server runs, and that host and port are right")
                }
                ConnectionProblem::Unauthorized => Some("check the user and the password"),
                ConnectionProblem::NoDatabase => {
                    Some("make the database first: `createdb --owner USER DATABASE`")
                }
                ConnectionProblem::Full => {
                    Some("allow fewer connections here, or raise `max_connections` of the server")
                }
                ConnectionProblem::Other => None,
            },
            Self::Unopened { .. } => {
                Some("check that the folder can be written, or name another with --home")
            }
            _ => None,
        }
    }
}
