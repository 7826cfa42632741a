//! Persistence: runs and their results, judges and what they gave, data sets as content-addressed blocks, the response cache,
//! provider batches, and secrets sealed with keys of their organization.
//!
//! Everything is reached through [`Store::scoped`]: there is no query without an organization.
//! The store keeps what it is given; it plans, runs and scores nothing.

#[cfg(test)]
extern crate self as fullbench_store;
mod alerts;
mod audit;
#[cfg(test)]
#[path = "../tests/backend/mod.rs"]
mod backend;
mod backup;
#[cfg(test)]
#[allow(dead_code, clippy::unwrap_used, clippy::expect_used)]
#[path = "../tests/backup/fixture.rs"]
mod backup_fixture;
mod baselines;
mod cache;
mod connection;
mod database;
mod dataset;
mod end_of_run;
mod entity;
mod error;
mod insert;
mod judgements;
mod judging;
mod lifecycle;
mod limits;
mod location;
mod lock;
mod migration;
mod objects;
mod patience;
mod platform;
mod postgres;
mod progress;
mod provider_batches;
mod recorder;
mod results;
mod rollup;
mod run_scorers;
mod runs;
mod schema;
mod scrub;
mod sealed_text;
mod spending;
mod sqlite;
mod status;
mod usage;
mod vault;

pub use alerts::{
    AlertChange, AlertFilter, AlertMessage, AlertRecord, AlertScope, DueAlert, DueNotification,
    Measurement, NewAlert, NotificationRecord, SlackAddress,
};
pub use audit::{
    AskedBy, AuditBeginning, AuditEntry, AuditFilter, AuditFinding, AuditHash, AuditHead, AuditKey,
    AuditLine, AuditReport, ChainCheck, LOG_BEGAN, NewAuditEntry, SEAL_BROKEN, check_audit_file,
};
pub use backup::{BackupContents, BackupObjects, BackupTable, ExportContents};
pub use baselines::Baseline;
pub use cache::{CacheLimits, DiskCache};
pub use connection::CommitMark;
pub use database::{ScopedStore, Store};
pub use dataset::{
    CaseReader, DatasetVersion, DatasetWriter, FieldMapping, InlineCase, StoredBlock,
    ground_truth_source,
};
pub use end_of_run::EndOfRun;
pub use error::{ConnectionProblem, EntityKind, StoreError};
pub use judgements::{
    DailyCost, DocumentDifficulty, DocumentScore, DocumentScores, FailurePattern, JudgeKey,
    JudgePerformance, JudgedBy, JudgedDocument, JudgementFilter, ModelPerformance, Performance,
    ThresholdEffect, message_pattern,
};
pub use judging::{
    CriterionRecord, CriterionSource, JudgeRecord, JudgedRecord, MethodRecord, ModelRecord,
    NewJudge, NewModel, ThresholdRecord,
};
pub use lifecycle::{ErasureReceipt, RemovedDataset, RemovedRows, RetentionReport};
pub use location::{DatabaseLocation, ObjectsLocation, PostgresUrl, StoreLocation};
pub use lock::RunLock;
pub use objects::{FileStream, ObjectStore, StoredFile};
pub use platform::{
    AfterAttempt, ApiKeyRecord, AttemptRecord, CaseRecord, Claim, CountedTry, Credentials,
    DatasetChange, DatasetRecord, DeliveryFilter, DeliveryRecord, DocumentRecord, DueDelivery,
    EventRecord, GroundTruthRecord, InvitationPace, InvitationRecord, KeptAnswer, KeptSecret,
    KeyHolder, MemberChange, NewApiKey, NewCase, NewDataset, NewDocument, NewEvent, NewGroundTruth,
    NewInvitation, NewOrganization, NewPrompt, NewPromptVersion, NewProviderKey, NewSession,
    NewUser, NewVersion, NewWebhook, OrganizationChange, OrganizationRecord, OrganizationSettings,
    Page, PasswordHash, PromptChange, PromptContent, PromptRecord, PromptVersionRecord,
    ProviderKeyRecord, SealedSecret, SessionHolder, SessionRecord, SingleRun, UserRecord,
    VersionRecord, VersionValidation, WebhookChange, WebhookRecord,
};
pub use progress::{LaneProgress, RecordedUnit};
pub use provider_batches::RunBatches;
pub use recorder::{GenerationRecord, RecordedGroup, RunRecorder, ScoreRecord, ToldNames};
pub use results::{ResultDetail, ScoreEntry, UnitResult};
pub use rollup::{AnswerTimes, GenerationCount, ScoreCount};
pub use runs::{NewRun, RunFilter, RunOrder, RunRecord};
pub use sealed_text::SealedTexts;
pub use sealed_text::catalogue::BUDGET_NOTES;
pub use spending::{Month, SpendingCeilings};
pub use status::{DatabaseKind, DatabaseStatus, TableRows};
pub use vault::{
    ForgottenKeys, MasterKey, MasterKeyId, MasterKeySource, MasterKeyStatus, MasterKeys, Purpose,
    Rotation, Sealer,
};
