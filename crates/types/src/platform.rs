//! What a team's platform keeps beside runs: organizations, data sets with versions, agreed answers, the order of work.

use crate::words::words;

words! {
    /// What an organization pays for.
    Plan {
        /// Nothing.
        Free = "FREE",
        /// A small team.
        Starter = "STARTER",
        /// A large team.
        Professional = "PROFESSIONAL",
        /// A company.
        Enterprise = "ENTERPRISE",
    }
}

words! {
    /// What a person or a key may do.
    UserRole {
        /// Everything, and the organization is theirs.
        Owner = "owner",
        /// Everything but giving the organization away.
        Admin = "admin",
        /// Data sets, evaluations, judges.
        Engineer = "engineer",
        /// Labels.
        Annotator = "annotator",
        /// Looking.
        Viewer = "viewer",
    }
}

words! {
    /// What a data set is for.
    DatasetKind {
        /// Evaluating models or applications.
        Evaluation = "EVALUATION",
        /// A benchmark that others know.
        Benchmark = "BENCHMARK",
        /// Answers that are known to be right.
        GoldenSet = "GOLDEN_SET",
        /// Cases that wait for people.
        AnnotationQueue = "ANNOTATION_QUEUE",
    }
}

words! {
    /// Where a version of a data set stands.
    VersionStatus {
        /// It may still go away.
        Draft = "DRAFT",
        /// It never changes again.
        Published = "PUBLISHED",
        /// It is there for what was made with it; nothing new should use it.
        Deprecated = "DEPRECATED",
    }
}

words! {
    /// Whether the rows of a version have been looked at.
    ValidationStatus {
        /// Not all of them yet.
        Pending = "PENDING",
        /// All are cases.
        Valid = "VALID",
        /// Some are not.
        Invalid = "INVALID",
    }
}

words! {
    /// How a file holds its rows.
    FileFormat {
        /// Comma-separated values with a header.
        Csv = "CSV",
        /// One list of objects.
        Json = "JSON",
        /// One object a line.
        Jsonl = "JSONL",
        /// Columns.
        Parquet = "PARQUET",
    }
}

words! {
    /// Who says that an answer is right.
    GroundTruthSource {
        /// Several people agreed.
        HumanConsensus = "HUMAN_CONSENSUS",
        /// One who knows.
        Expert = "EXPERT",
        /// A program.
        Automated = "AUTOMATED",
        /// It came with the data.
        Imported = "IMPORTED",
    }
}

words! {
    /// How soon work should be done, the most urgent first.
    Priority {
        /// Before everything else.
        Critical = "critical",
        /// Before the usual.
        High = "high",
        /// As usual.
        Normal = "normal",
        /// When there is room.
        Low = "low",
    }
}

words! {
    /// What asked for a run.
    RunOrigin {
        /// The command line, which works on it itself.
        CommandLine = "command_line",
        /// An evaluation of one answer.
        Evaluation = "evaluation",
        /// An evaluation of a data set.
        Batch = "batch",
        /// One task for one model.
        Execution = "execution",
    }
}

words! {
    /// What happened.
    EventKind {
        /// A run is worked on.
        RunStarted = "run.started",
        /// A group of results of a run was kept.
        RunResults = "run.results",
        /// A run ended with everything done.
        RunCompleted = "run.completed",
        /// A run ended with something missing.
        RunIncomplete = "run.incomplete",
        /// A run was given up on request.
        RunCancelled = "run.cancelled",
        /// A run could not be carried out.
        RunFailed = "run.failed",
        /// Single answers were evaluated.
        EvaluationsCompleted = "evaluations.completed",
        /// A version of a data set was looked through.
        DatasetValidated = "dataset.validated",
        /// What a rule watches went over its threshold, or still is.
        AlertFiring = "alert.firing",
        /// What a rule watches is at or under its threshold again.
        AlertResolved = "alert.resolved",
        /// A webhook is tried out.
        WebhookTest = "webhook.test",
    }
}

words! {
    /// How far the sending of an event to a webhook has come.
    DeliveryStatus {
        /// It is tried, or will be tried again.
        Pending = "pending",
        /// The receiver took it.
        Delivered = "delivered",
        /// It was tried as often as it is, or cannot be sent.
        Failed = "failed",
    }
}

impl EventKind {
    /// Whether a run has ended with it.
    #[must_use]
    pub fn is_end_of_run(self) -> bool {
        matches!(
            self,
            Self::RunCompleted | Self::RunIncomplete | Self::RunCancelled | Self::RunFailed
        )
    }
}

/// A file's format by the ending of its name.
impl FileFormat {
    /// `data.jsonl` is JSON Lines.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// The usual ending of its files.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for status in VersionStatus::ALL {
            assert_eq!(VersionStatus::from_word(status.as_str()), Some(*status));
            assert_eq!(serde_json::json!(status), serde_json::json!(status.as_str()));
        }
        assert_eq!(VersionStatus::from_word("draft"), None);
        assert!(Priority::Critical < Priority::Low, "the most urgent comes first");
    }

    #[test]
    fn a_format_is_known_by_the_ending() {
        assert_eq!(FileFormat::of_name("a.b.JSONL"), Some(FileFormat::Jsonl));
        assert_eq!(FileFormat::of_name("jsonl"), None);
    }
}

words! {
    /// A kind of thing that is taken out of texts before they are kept.
    ScrubKind {
        /// Keys and tokens that open something.
        Key = "key",
        /// Addresses of mail.
        Email = "email",
        /// Numbers of payment cards.
        Card = "card",
        /// Numbers of phones.
        Phone = "phone",
    }
}
