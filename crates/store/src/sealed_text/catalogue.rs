//! Which columns hold texts of cases, answers and prompts, and what of them is sealed.
//!
//! Names, keys of cases, labels, hashes and numbers stay plain: they are asked for. So do the rules that numbers are made by:
//! scorers, criteria and judges.

/// A column with texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SealedColumn {
    pub(crate) table: &'static str,
    pub(crate) name: &'static str,
    pub(crate) form: Form,
}

/// What of a column is sealed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// All of it.
    Whole,
    /// It is JSON, and these parts of it are.
    Parts(&'static [Part]),
}

/// Parts of JSON that are sealed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// Names of fields; `*` stands for all items of a list.
    pub(crate) path: &'static [&'static str],
    /// What is in its place once it cannot be opened any more.
    pub(crate) gone: Gone,
    /// Texts that begin like this stay plain.
    pub(crate) plain: Option<&'static str>,
}

/// What stands for a part that is gone, so that the rest can be read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gone {
    Text,
    Object,
    Nothing,
}

/// A table with such columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SealedTable {
    pub(crate) name: &'static str,
    /// What tells its rows apart within an organization.
    pub(crate) key: &'static [&'static str],
    pub(crate) columns: &'static [SealedColumn],
    /// The database refuses to change its rows.
    pub(crate) is_fixed: bool,
}

const fn whole(table: &'static str, name: &'static str) -> SealedColumn {
    SealedColumn { table, name, form: Form::Whole }
}

const fn parts(table: &'static str, name: &'static str, parts: &'static [Part]) -> SealedColumn {
    SealedColumn { table, name, form: Form::Parts(parts) }
}

const fn table_of(
    name: &'static str,
    key: &'static [&'static str],
    columns: &'static [SealedColumn],
) -> SealedTable {
    SealedTable { name, key, columns, is_fixed: false }
}

const fn part(path: &'static [&'static str], gone: Gone) -> Part {
    Part { path, gone, plain: None }
}

pub(crate) const GENERATION_TEXT: SealedColumn = whole("generations", "text");
pub(crate) const GENERATION_DETAILS: SealedColumn = whole("generations", "details");
pub(crate) const GENERATION_RAW: SealedColumn = whole("generations", "raw");
pub(crate) const SCORE_REASONING: SealedColumn = whole("scores", "reasoning");
pub(crate) const SCORE_EVIDENCE: SealedColumn = whole("scores", "evidence");
/// Who judged, and what it took, stays plain.
pub(crate) const SCORE_JUDGEMENT: SealedColumn = parts(
    "scores",
    "judgement",
    &[
        part(&["prompt"], Gone::Text),
        part(&["replies", "*", "part"], Gone::Nothing),
        part(&["replies", "*", "text"], Gone::Text),
        part(&["replies", "*", "problem"], Gone::Nothing),
    ],
);
/// Models and scorers stay plain: without them no number could be told from another.
pub(crate) const RUN_SPEC: SealedColumn = parts(
    "runs",
    "spec",
    &[
        part(&["description"], Gone::Nothing),
        part(&["prompt", "messages", "*", "text"], Gone::Text),
    ],
);
/// What notes of runs begin with that say that the money did not suffice.
pub const BUDGET_NOTES: &str = "stopped at the ";
/// That the money did not suffice stays plain: why units are open is counted.
pub(crate) const RUN_NOTES: SealedColumn =
    parts("runs", "notes", &[Part { plain: Some(BUDGET_NOTES), ..part(&["*"], Gone::Nothing) }]);
/// The report repeats the notes.
pub(crate) const RUN_SUMMARY: SealedColumn = parts(
    "runs",
    "summary",
    &[Part { plain: Some(BUDGET_NOTES), ..part(&["notes", "*"], Gone::Nothing) }],
);
/// The blocks of a data set are sealed where they are kept.
pub(crate) const CONTENT_MANIFEST: SealedColumn =
    parts("dataset_contents", "manifest", &[part(&["inline", "*", "fields"], Gone::Object)]);
pub(crate) const DOCUMENT_INPUT: SealedColumn = whole("documents", "input");
pub(crate) const DOCUMENT_OUTPUT: SealedColumn = whole("documents", "actual_output");
pub(crate) const DOCUMENT_EXPECTED: SealedColumn = whole("documents", "expected_output");
pub(crate) const DOCUMENT_METADATA: SealedColumn = whole("documents", "metadata");
pub(crate) const CASE_INPUT: SealedColumn = whole("test_cases", "input");
pub(crate) const CASE_EXPECTED: SealedColumn = whole("test_cases", "expected_output");
pub(crate) const CASE_METADATA: SealedColumn = whole("test_cases", "metadata");
pub(crate) const GROUND_TRUTH_VALUE: SealedColumn = whole("ground_truths", "value");
pub(crate) const PROMPT_TEMPLATE: SealedColumn = whole("prompt_versions", "template");
pub(crate) const PROMPT_MESSAGES: SealedColumn = whole("prompt_versions", "messages");
pub(crate) const VERSION_ERRORS: SealedColumn = whole("dataset_versions", "validation_errors");
pub(crate) const ANSWER_BODY: SealedColumn = whole("idempotency_keys", "body");

/// All of them.
pub(crate) const TABLES: &[SealedTable] = &[
    table_of(
        "generations",
        &["run_id", "case_index", "model_index", "repetition"],
        &[GENERATION_TEXT, GENERATION_DETAILS, GENERATION_RAW],
    ),
    table_of(
        "scores",
        &["run_id", "case_index", "model_index", "repetition", "scorer", "revision"],
        &[SCORE_REASONING, SCORE_EVIDENCE, SCORE_JUDGEMENT],
    ),
    table_of("runs", &["id"], &[RUN_SPEC, RUN_NOTES, RUN_SUMMARY]),
    table_of("dataset_contents", &["content_hash"], &[CONTENT_MANIFEST]),
    SealedTable {
        is_fixed: true,
        ..table_of(
            "documents",
            &["id"],
            &[DOCUMENT_INPUT, DOCUMENT_OUTPUT, DOCUMENT_EXPECTED, DOCUMENT_METADATA],
        )
    },
    table_of("test_cases", &["id"], &[CASE_INPUT, CASE_EXPECTED, CASE_METADATA]),
    table_of("ground_truths", &["id"], &[GROUND_TRUTH_VALUE]),
    SealedTable {
        is_fixed: true,
        ..table_of("prompt_versions", &["id"], &[PROMPT_TEMPLATE, PROMPT_MESSAGES])
    },
    table_of("dataset_versions", &["id"], &[VERSION_ERRORS]),
    table_of("idempotency_keys", &["key"], &[ANSWER_BODY]),
];

/// What is sealed of a table, if anything is.
pub(crate) fn table(name: &str) -> Option<&'static SealedTable> {
    TABLES.iter().find(|table| table.name == name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::lifecycle::catalogue::tables;

    #[tokio::test]
    async fn every_column_is_there_and_every_key_is_that_of_its_table() {
        let tables = tables().await.unwrap();
        for sealed in TABLES {
            let owned = tables.iter().find(|owned| owned.table.name == sealed.name).unwrap();
            let mut key = owned.table.key.clone();
            key.retain(|column| column != "organization_id");
            assert_eq!(key, sealed.key, "{}", sealed.name);
            for column in sealed.columns {
                assert_eq!(column.table, sealed.name);
                assert!(owned.table.place(column.name).is_some(), "{}", column.name);
            }
        }
    }
}
