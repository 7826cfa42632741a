"""Generated from schema/openapi.json by scripts/sdk-python; changes made here are lost."""
# mypy: disable-error-code=assignment

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AnyUrl, AwareDatetime, BaseModel, ConfigDict, Field, SecretStr
from typing_extensions import TypeAliasType


class Health(BaseModel):
    status: str
    """`ok`."""
    version: str
    """The version of the server."""


class FieldProblem(BaseModel):
    """What is wrong with one field."""

    field: str
    """The field, as a path: `config.models[1].temperature`."""
    message: str
    """What is wrong."""
    hint: str | None = None
    """What to do about it."""


class SignIn(BaseModel):
    """What somebody shows to sign in."""

    model_config = ConfigDict(
        extra="forbid",
    )
    email: Annotated[str, Field(max_length=254, min_length=1)]
    password: Annotated[str, Field(max_length=1024, min_length=1)]
    organization: str | None = None
    """The slug of the organization; needed if you belong to several."""
    totp_code: str | None = None
    """The code that your authenticator app shows."""
    recovery_code: str | None = None
    """One of the codes that you wrote down, instead of `totp_code`."""


UserRole = TypeAliasType("UserRole", Literal["owner", "admin", "engineer", "annotator", "viewer"])
"""What a person or a key may do."""


class SessionOrganization(BaseModel):
    """Where they belong."""

    organization_id: UUID
    name: str
    slug: str


Action = TypeAliasType(
    "Action",
    Literal[
        "organization:read",
        "organization:write",
        "organization:export",
        "organization:erase",
        "members:read",
        "members:write",
        "keys:read",
        "keys:write",
        "secrets:read",
        "secrets:write",
        "datasets:read",
        "datasets:write",
        "datasets:delete",
        "labels:write",
        "runs:read",
        "runs:start",
        "baselines:write",
        "definitions:read",
        "definitions:write",
        "webhooks:read",
        "webhooks:write",
        "alerts:read",
        "alerts:write",
        "audit:read",
    ],
)
"""Something that can be done on the platform; keys may be made for some of them only, as their scopes."""


class AccountChange(BaseModel):
    """What is to be different about one's account."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=255, min_length=1)]
    """Your name."""


class Member(BaseModel):
    """A person of the organization."""

    user_id: UUID
    email: str
    name: str
    role: UserRole
    has_second_factor: bool
    """Whether a code is asked for when they sign in."""
    created_at: AwareDatetime
    last_sign_in_at: AwareDatetime | None = None
    disabled_at: AwareDatetime | None = None
    """Since when they may do nothing."""


class PasswordChange(BaseModel):
    """A new password."""

    model_config = ConfigDict(
        extra="forbid",
    )
    old_password: Annotated[str, Field(max_length=1024, min_length=1)]
    """The password there is."""
    password: Annotated[str, Field(max_length=1024, min_length=10)]
    """The password to be."""


class OwnSession(BaseModel):
    """Somewhere you are signed in."""

    session_id: UUID
    is_current: bool
    """Whether it is the one of this request."""
    from_address: str | None = None
    """Where you came from."""
    user_agent: str | None = None
    """What you came with."""
    created_at: AwareDatetime
    last_seen_at: AwareDatetime
    """When it was last used, to the minute."""
    expires_at: AwareDatetime


class PasswordAgain(BaseModel):
    """Your password, again."""

    model_config = ConfigDict(
        extra="forbid",
    )
    password: Annotated[str, Field(max_length=1024, min_length=1)]


class OfferedSecondFactor(BaseModel):
    """A second factor, which counts once it is confirmed: the only time that it is shown."""

    secret: str
    """What is typed into an authenticator app."""
    otpauth_uri: str
    """The same as a link, which apps read as a picture."""


class Confirmation(BaseModel):
    """A code of the app."""

    model_config = ConfigDict(
        extra="forbid",
    )
    totp_code: Annotated[str, Field(max_length=16, min_length=6)]
    """The code that the app shows now."""


class ShownRecoveryCodes(BaseModel):
    """Codes to be written down: the only time that they are shown."""

    recovery_codes: list[str]
    """Each stands in once for a code of the app."""


class Forgotten(BaseModel):
    """Somebody who forgot their password."""

    model_config = ConfigDict(
        extra="forbid",
    )
    email: Annotated[str, Field(max_length=254, min_length=1)]
    organization: str | None = None
    """The slug of the organization; needed if you belong to several."""


class Completion(BaseModel):
    """A new password."""

    model_config = ConfigDict(
        extra="forbid",
    )
    token: Annotated[str, Field(max_length=200, min_length=1)]
    """What was sent."""
    password: Annotated[str, Field(max_length=1024, min_length=10)]
    """With what you are going to sign in."""


Plan = TypeAliasType("Plan", Literal["FREE", "STARTER", "PROFESSIONAL", "ENTERPRISE"])
"""What an organization pays for."""


ScrubKind = TypeAliasType("ScrubKind", Literal["key", "email", "card", "phone"])
"""A kind of thing that is taken out of texts before they are kept."""


class OrganizationSettingsChange(BaseModel):
    """What is to be decided otherwise; what is left out stays, and null takes away."""

    model_config = ConfigDict(
        extra="forbid",
    )
    default_evaluators: Annotated[list[str] | None, Field(max_length=100)] = None
    """Metrics of an evaluation that names none."""
    cost_budget_monthly_usd: Annotated[float | None, Field(ge=0.0)] = None
    """What may be spent in a month."""
    data_retention_days: Annotated[int | None, Field(ge=1)] = None
    """For how long results are kept."""
    requests_per_minute: Annotated[int | None, Field(ge=1)] = None
    """Requests that all keys and members together may make in a minute, where that is less than the server allows."""
    scrub: list[ScrubKind] | None = None
    """What is taken out of texts before they are kept."""
    encrypt_texts: bool | None = None
    """Texts are sealed with the organization's own key before they are kept."""


class Erasure(BaseModel):
    """The slug of the organization, so that nobody erases another one by mistake."""

    model_config = ConfigDict(
        extra="forbid",
    )
    slug: str
    """The slug of your organization, typed again."""


class ErasedRows(BaseModel):
    """Rows of a table."""

    table: str
    rows: Annotated[int, Field(ge=0)]


class Used(BaseModel):
    """A number, and how large it may be."""

    used: Annotated[int, Field(ge=0)]
    limit: Annotated[int | None, Field(ge=0)] = None
    """Null where there is none."""


class Spent(BaseModel):
    """Money, and how much it may be."""

    used: float
    limit: float | None = None
    """Null where there is none."""


class Members(BaseModel):
    """Everybody of the organization."""

    members: list[Member]


class MemberChange(BaseModel):
    """What is to be different about somebody."""

    model_config = ConfigDict(
        extra="forbid",
    )
    role: UserRole | None = None
    """What they may do; nobody gives away more than they may do themselves."""
    disabled: bool | None = None
    """Whether they may do anything. Who may not is signed out everywhere, and their keys open nothing."""


class NewInvitation(BaseModel):
    """Somebody to be asked."""

    model_config = ConfigDict(
        extra="forbid",
    )
    email: Annotated[str, Field(max_length=254, min_length=3)]
    """Who is asked."""
    role: UserRole
    """What they are going to be allowed; nobody gives away more than they may do themselves."""


class CreatedInvitation(BaseModel):
    """An invitation that was just made."""

    invitation_id: UUID
    email: str
    role: UserRole
    created_by: str | None = None
    """Who asks them."""
    created_at: AwareDatetime
    expires_at: AwareDatetime
    """Until when it can be accepted."""
    accepted_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None
    """Since when it can no longer be accepted."""
    is_mailed: bool
    """Whether it is sent by mail."""
    token: str | None = None
    """What they need to accept; null where it is mailed, and when the request is repeated."""
    link: str | None = None
    """The page on which they accept, where the server knows its public address."""


class Invitation(BaseModel):
    """Somebody who is asked to join."""

    invitation_id: UUID
    email: str
    role: UserRole
    created_by: str | None = None
    """Who asks them."""
    created_at: AwareDatetime
    expires_at: AwareDatetime
    """Until when it can be accepted."""
    accepted_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None
    """Since when it can no longer be accepted."""


class Acceptance(BaseModel):
    """Somebody who accepts."""

    model_config = ConfigDict(
        extra="forbid",
    )
    token: Annotated[str, Field(max_length=200, min_length=1)]
    """What was sent."""
    name: Annotated[str, Field(max_length=255, min_length=1)]
    """Your name."""
    password: Annotated[str, Field(max_length=1024, min_length=10)]
    """With what you are going to sign in."""


class NewApiKey(BaseModel):
    """A key to be made."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=255, min_length=1)]
    """What the key is for."""
    role: UserRole | None = None
    """What it may do. Default: `engineer`, or your own role where that allows less."""
    scopes: Annotated[list[Action] | None, Field(min_length=1)] = None
    """The actions of the role that it is for. Default: all of them."""
    expires_at: AwareDatetime | None = None
    """When it opens nothing any more. Default: never."""
    requests_per_minute: Annotated[int | None, Field(ge=1)] = None
    """How often it may be used. Default: as often as the organization may call."""
    service: bool | None = False
    """It belongs to nobody and stays when you leave; needs `members:write`."""


class CreatedApiKey(BaseModel):
    """A new key: the only time that it is shown."""

    api_key_id: UUID
    name: str
    """What the key is for."""
    prefix: str
    """The first letters of the key."""
    role: UserRole
    """What it may do."""
    scopes: list[Action] | None = None
    """The actions of the role that it is for; null for all of them."""
    user_id: UUID | None = None
    """Whose it is; null for a service."""
    requests_per_minute: Annotated[int | None, Field(ge=0)] = None
    """How often it may be used."""
    created_by: str | None = None
    """Who made it."""
    created_at: AwareDatetime
    last_used_at: AwareDatetime | None = None
    """When it was last seen, to the minute."""
    expires_at: AwareDatetime | None = None
    """When it opens nothing any more."""
    revoked_at: AwareDatetime | None = None
    """Since when it opens nothing."""
    key: SecretStr | None = None
    """The key itself; null when the request is repeated, since it is kept nowhere."""


class ApiKey(BaseModel):
    """A bearer key, without the key."""

    api_key_id: UUID
    name: str
    """What the key is for."""
    prefix: str
    """The first letters of the key."""
    role: UserRole
    """What it may do."""
    scopes: list[Action] | None = None
    """The actions of the role that it is for; null for all of them."""
    user_id: UUID | None = None
    """Whose it is; null for a service."""
    requests_per_minute: Annotated[int | None, Field(ge=0)] = None
    """How often it may be used."""
    created_by: str | None = None
    """Who made it."""
    created_at: AwareDatetime
    last_used_at: AwareDatetime | None = None
    """When it was last seen, to the minute."""
    expires_at: AwareDatetime | None = None
    """When it opens nothing any more."""
    revoked_at: AwareDatetime | None = None
    """Since when it opens nothing."""


class ApiKeyRenewal(BaseModel):
    """How a key is renewed."""

    model_config = ConfigDict(
        extra="forbid",
    )
    grace_seconds: Annotated[int | None, Field(ge=0, le=2592000)] = 86400
    """For how long the old key goes on, at most 30 days. Default: a day."""


class AuditEntry(BaseModel):
    """Something that was done, or was to be done."""

    number: Annotated[int, Field(ge=0)]
    """1 for the first, without gaps."""
    at: AwareDatetime
    actor: str
    """Who."""
    credential: str | None = None
    """What let them in, by its id."""
    from_address: str | None = None
    """Where they called from."""
    request_id: str | None = None
    """The request, as logs name it."""
    action: str
    """The operation."""
    target: str | None = None
    """What it was about: the ids in its path, or of what was made."""
    phase: str
    """How far it got: `asked`, then `done`, `refused`, `failed` or `broken_off`."""
    status: int | None = None
    """The status of the answer."""
    before: Any | None = None
    """What it was like before, without secrets."""
    after: Any | None = None
    """What it was like after, without secrets."""
    hash: str
    """SHA-256 of the entry and of the one before."""


class AuditVerification(BaseModel):
    """What was found in the audit log."""

    intact: bool
    """Whether nothing was found."""
    entries: Annotated[int, Field(ge=0)]
    """The entries that were read."""
    hash: str
    """The hash of the newest entry."""
    findings: list[str]
    """What was found, in words, the first 1,000."""
    finding_count: Annotated[int, Field(ge=0)]
    """How much was found in all."""


Tag = TypeAliasType("Tag", Annotated[str, Field(max_length=64, min_length=1, pattern="\\S")])


DatasetKind = TypeAliasType("DatasetKind", Literal["EVALUATION", "BENCHMARK", "GOLDEN_SET", "ANNOTATION_QUEUE"])
"""What a data set is for."""


class Dataset(BaseModel):
    """A named data set; its cases are in its versions."""

    dataset_id: UUID
    name: str
    description: str | None = None
    """What it is about."""
    type: DatasetKind
    """What it is for."""
    tags: list[str]
    """Words to find it by."""
    created_at: AwareDatetime
    updated_at: AwareDatetime
    created_by: str | None = None
    """Who made it."""


class Datasets(BaseModel):
    """A page of data sets."""

    datasets: list[Dataset]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many match in all."""
    has_more: bool
    """There are more after these."""


class DatasetChange(BaseModel):
    """What of a data set to change; what is left out stays as it is."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=255, min_length=1, pattern="\\S")] = None
    """Another name."""
    description: Annotated[str | None, Field(max_length=10000)] = None
    """Another description; null takes it away."""
    tags: Annotated[list[Tag] | None, Field(max_length=64)] = None
    """Other tags."""


ReferenceItem = TypeAliasType("ReferenceItem", Annotated[str, Field(max_length=512, min_length=1, pattern="\\S")])


UploadFormat = TypeAliasType("UploadFormat", Literal["csv", "json", "jsonl", "parquet"])
"""The format of an uploaded file."""


UploadStatus = TypeAliasType("UploadStatus", Literal["validating", "valid", "invalid"])
"""What became of the rows of an upload."""


FileFormat = TypeAliasType("FileFormat", Literal["CSV", "JSON", "JSONL", "PARQUET"])
"""How a file holds its rows."""


VersionStatus = TypeAliasType("VersionStatus", Literal["DRAFT", "PUBLISHED", "DEPRECATED"])
"""Where a version of a data set stands."""


ColumnType = TypeAliasType(
    "ColumnType", Literal["string", "integer", "number", "boolean", "array", "object", "mixed", "null"]
)
"""The type of a column, over all its rows."""


ValidationStatus = TypeAliasType("ValidationStatus", Literal["PENDING", "VALID", "INVALID"])
"""Whether the rows of a version have been looked at."""


ProblemCode = TypeAliasType(
    "ProblemCode",
    Literal[
        "empty_file",
        "bad_header",
        "ragged_row",
        "not_utf8",
        "not_csv",
        "not_json",
        "not_parquet",
        "too_long",
        "too_many_columns",
        "wrong_type",
        "missing_input",
        "missing_id",
        "duplicate_id",
        "unknown_field",
        "nul_character",
        "unreadable",
    ],
)
"""What is wrong, for programs. The words never change."""


class TestCase(BaseModel):
    """A case."""

    test_case_id: UUID
    version_id: UUID
    row_index: Annotated[int, Field(ge=0)]
    """Its position in the file, counted from 0."""
    case_key: str
    """Its identity across versions."""
    input: Any
    """Text, an object, or a conversation."""
    expected_output: str | None = None
    """The accepted answer that the file has."""
    metadata: dict[str, Any]
    """What else is known of it."""
    created_at: AwareDatetime


class GroundTruthValue(BaseModel):
    """What is agreed on: at least one of these."""

    model_config = ConfigDict(
        extra="forbid",
    )
    answer: str | None = None
    """The answer."""
    acceptable_answers: Annotated[list[str] | None, Field(max_length=1000, min_length=1)] = None
    """All answers that count as right."""
    rubric: dict[str, Any] | None = None
    """How an answer is to be judged."""


GroundTruthSource = TypeAliasType("GroundTruthSource", Literal["HUMAN_CONSENSUS", "EXPERT", "AUTOMATED", "IMPORTED"])
"""Who says that an answer is right."""


class GroundTruth(BaseModel):
    """An agreed answer."""

    ground_truth_id: UUID
    test_case_id: UUID
    revision: Annotated[int, Field(ge=0)]
    """Its number in the version: of a case the highest counts."""
    value: dict[str, Any]
    """An object with `answer`, `acceptable_answers` or `rubric`."""
    source: GroundTruthSource
    confidence: float | None = None
    """How sure they are, from 0 to 1."""
    created_at: AwareDatetime
    created_by: str | None = None
    """Who stored it."""


class GroundTruths(BaseModel):
    """What was agreed on for a case."""

    current: GroundTruth | None = None
    """What counts."""
    history: list[GroundTruth]
    """Everything that was ever agreed on, the newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


CaseSampleStrategy = TypeAliasType("CaseSampleStrategy", Literal["random", "stratified"])
"""How a sample is drawn."""


class Stratum(BaseModel):
    """The cases that have one value of the field."""

    value: str
    """The value as text; empty where a case has none."""
    cases: Annotated[int, Field(ge=0)]
    """How many cases have it."""
    sampled: Annotated[int, Field(ge=0)]
    """How many of them are in the sample."""


DownloadFormat = TypeAliasType("DownloadFormat", Literal["jsonl", "csv", "json", "parquet", "original"])
"""The format of a download."""


class CaseDifference(BaseModel):
    """A case in a difference."""

    key: str
    """Its key."""
    left_index: Annotated[int | None, Field(ge=0)] = None
    """Where it stands in the left version."""
    right_index: Annotated[int | None, Field(ge=0)] = None
    """Where it stands in the right version."""
    fields: list[str]
    """The fields that differ, of a changed case."""


class RetypedColumn(BaseModel):
    """A column with another type."""

    name: str
    """Its name."""
    left: ColumnType
    """Its type in the left version."""
    right: ColumnType
    """Its type in the right version."""


Input = TypeAliasType("Input", str | dict[str, Any] | list[Any])
"""An input: text, an object, or a conversation as a list of messages."""


OneOrMany = TypeAliasType("OneOrMany", str | list[str])
"""A text, or a list of texts."""


class Scorer(BaseModel):
    """A scorer with its parameters, as in an evaluation file."""

    model_config = ConfigDict(
        extra="allow",
    )
    type: str
    """Which scorer."""
    name: str | None = None
    """What its scores are called."""


Provider = TypeAliasType("Provider", Literal["openai", "anthropic", "gemini", "xai", "ollama", "local", "recorded"])
"""Who serves the model."""


OneOrMany2 = TypeAliasType("OneOrMany2", str | list[str])


class Price(BaseModel):
    """Price of a model in dollars per million tokens."""

    model_config = ConfigDict(
        extra="forbid",
    )
    input: float
    """A million tokens of the prompt."""
    output: float
    """A million tokens of the answer, reasoning included."""
    cached_input: float | None = None
    """A million prompt tokens read from the provider's cache; `input` unless given."""
    cache_write: float | None = None
    """A million prompt tokens written to the provider's cache; `input` unless given."""


class LimitsOverride(BaseModel):
    """Limits of one model where they differ from those of the run."""

    model_config = ConfigDict(
        extra="forbid",
    )
    concurrency: Annotated[int | None, Field(ge=0)] = None
    """Calls in flight at once."""
    requests_per_minute: Annotated[int | None, Field(ge=0)] = None
    """Calls started per minute."""
    tokens_per_minute: Annotated[int | None, Field(ge=0)] = None
    """Tokens sent and received per minute."""
    timeout_seconds: float | None = None
    """Seconds one call may take."""
    deadline_seconds: float | None = None
    """Seconds one answer may take with all its attempts."""
    attempts: Annotated[int | None, Field(ge=0)] = None
    """Calls made for one answer before giving up."""


class EndpointConfig(BaseModel):
    """One of several equivalent deployments of a model: the same model at another address or with another key."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str | None = None
    """What the endpoint is called in results; its host, and its port where that is not the usual one, unless given."""
    base_url: str | None = None
    """Where it is served; the model's address unless given."""
    api_key_env: str | None = None
    """Name of the environment variable that holds its key. The model's own goes only to the model's address."""
    price: Price | None = None
    """Its price in dollars per million tokens, where it differs from the model's."""
    limits: LimitsOverride | None = None
    """Its limits where they differ from the model's; `deadline_seconds` and `attempts` are the model's alone."""


RoutePolicy = TypeAliasType("RoutePolicy", Literal["cost", "latency", "priority"])
"""Which of the endpoints with a free place gets a call."""


Priority = TypeAliasType("Priority", Literal["critical", "high", "normal", "low"])
"""How soon work should be done, the most urgent first."""


EvaluationStatus = TypeAliasType("EvaluationStatus", Literal["pending", "partial", "completed", "failed", "cancelled"])
"""Where an evaluation of one answer stands."""


class MetricResult(BaseModel):
    """What a metric says of an answer."""

    value: float | None = None
    """From 0 to 1, higher is better."""
    raw: float | None = None
    """On the metric's own scale."""
    outcome: str
    """`passed` or `failed` where there is a threshold, `scored` where there is none, `unscored` with a `reason`."""
    reason: str | None = None
    """Why there is no score."""
    reasoning: str | None = None
    """Why the score is what it is."""
    evidence: Any | None = None
    """What the score rests on."""
    confidence: float | None = None
    """How sure the metric is, from 0 to 1."""
    cost_usd: float | None = None
    cached: bool
    """It came from the response cache."""
    signature: str
    """How the number was made, in one line."""


class ExampleTemplate(BaseModel):
    """An example: a question and its answer."""

    model_config = ConfigDict(
        extra="forbid",
    )
    user: str
    """What the user asks."""
    assistant: str
    """What the assistant answers."""


SampleStrategy = TypeAliasType("SampleStrategy", Literal["random", "stratified"])
"""How a sample is drawn."""


JobStatus = TypeAliasType(
    "JobStatus", Literal["queued", "running", "paused", "incomplete", "completed", "cancelled", "failed"]
)
"""Where a batch stands."""


class BatchProgress(BaseModel):
    """How far a batch is, in units."""

    total: Annotated[int, Field(ge=0)]
    completed: Annotated[int, Field(ge=0)]
    failed: Annotated[int, Field(ge=0)]


UnscoredAdditionalProperty = TypeAliasType("UnscoredAdditionalProperty", Annotated[int, Field(ge=0)])


class ScoreNumbers(BaseModel):
    """The numbers of a score."""

    mean: float | None = None
    low: float | None = None
    """Lower end of the 95% interval of the mean."""
    high: float | None = None
    """Upper end of the 95% interval of the mean."""
    interval: str | None = None
    """How the interval was made."""
    p50: float | None = None
    p95: float | None = None
    count: Annotated[int, Field(ge=0)]
    """Values that the mean is made of."""
    passed: Annotated[int, Field(ge=0)]
    failed: Annotated[int, Field(ge=0)]
    unscored: dict[str, UnscoredAdditionalProperty]
    """Units without a value, by reason."""
    worst_mean: float | None = None
    """The mean if every unit without a value had 0."""
    best_mean: float | None = None
    """The mean if every unit without a value had 1."""


class ModelNumbers(BaseModel):
    """The numbers of a model."""

    model: str
    scores: dict[str, ScoreNumbers]


class Gate(BaseModel):
    """A condition, judged."""

    gate: str
    """The condition."""
    model: str
    """The model it was judged for."""
    passed: bool
    warning: str | None = None
    """It holds only because the data do not show the opposite: what they leave open."""
    detail: str
    """The numbers it rests on, or why it cannot be judged."""


class EvaluationResult(BaseModel):
    """One unit of a run: what a model answered to a case, and what the metrics say of it."""

    case_key: str
    """What identifies the case across versions and runs."""
    case_index: Annotated[int, Field(ge=0)]
    """The position of the case in its version."""
    model: str
    repetition: Annotated[int, Field(ge=0)]
    """Which of the model's answers to the case it is, counted from 0."""
    status: str
    """`answered`, or why there is no answer."""
    output: str | None = None
    """What the model answered."""
    error: str | None = None
    """What the provider said when it failed."""
    scores: dict[str, MetricResult]
    latency_ms: float | None = None
    cost_usd: float | None = None
    input_tokens: Annotated[int | None, Field(ge=0)] = None
    output_tokens: Annotated[int | None, Field(ge=0)] = None
    cached: bool
    """The answer came from the response cache."""
    texts_deleted: bool
    """Its texts are gone with the key that they were sealed with: `output` and reasons are null."""


ExportFormat = TypeAliasType("ExportFormat", Literal["jsonl", "csv", "parquet"])
"""A format of results."""


class ComparedScore(BaseModel):
    """One score of one model in both runs."""

    model: str
    scorer: str
    verdict: str
    """`better` or `worse` after correction for the number of tests, `no_evidence`, `equivalent`, `identical`, `undefined`."""
    pairs: Annotated[int, Field(ge=0)]
    """Pairs with a value on both sides."""
    before_mean: float | None = None
    after_mean: float | None = None
    difference: float | None = None
    """Mean after minus mean before."""
    low: float | None = None
    """Lower end of the 95% interval of the difference."""
    high: float | None = None
    """Upper end of the 95% interval of the difference."""
    test: str | None = None
    """The test."""
    p_value: float | None = None
    adjusted_p_value: float | None = None
    """After Holm's correction for all tests of the comparison."""
    undefined: str | None = None
    """Why there is no test."""


RunState = TypeAliasType(
    "RunState", Literal["pending", "running", "paused", "incomplete", "completed", "cancelled", "failed"]
)
"""pending → running ⇄ paused | incomplete; completed, cancelled and failed are final."""


RunKind = TypeAliasType("RunKind", Literal["single", "batch", "benchmark", "ab_test", "regression"])
"""What a run is for."""


class EvaluationRun(BaseModel):
    """A run in short."""

    run_id: UUID
    name: str
    type: RunKind
    status: RunState
    priority: Priority
    dataset_version_id: UUID | None = None
    experiment_id: UUID | None = None
    variant_id: UUID | None = None
    baseline_run_id: UUID | None = None
    total_items: Annotated[int, Field(ge=0)]
    """Units of the plan: cases × models × repetitions."""
    completed_items: Annotated[int, Field(ge=0)]
    """Units that are answered and scored."""
    failed_items: Annotated[int, Field(ge=0)]
    """Units whose last attempt failed."""
    summary_scores: dict[str, float | None]
    """The mean of each score, once the run is not being worked on; of its first model where there are several."""
    total_cost_usd: float
    created_at: AwareDatetime
    started_at: AwareDatetime | None = None
    completed_at: AwareDatetime | None = None
    created_by: str | None = None
    notes: list[str]
    """What the user should know."""
    metadata: dict[str, Any]
    texts_deleted: bool
    """Its prompts or notes are gone with the key that they were sealed with: its numbers stay."""


class NewRun(BaseModel):
    """An evaluation to be run."""

    model_config = ConfigDict(
        extra="forbid",
    )
    evaluation: dict[str, Any]
    """The evaluation, as an evaluation file says it, without its cases and without files."""
    dataset_version_id: UUID
    """The version of the data set."""
    priority: Priority | None = None
    webhook_url: Annotated[str | None, Field(max_length=2048)] = None
    """Who is told when the run ends: it gets a POST, signed with the secret at `/v1/organization/webhook-secret`."""
    metadata: dict[str, Any] | None = {}
    """Anything to find the run by."""


class Baseline(BaseModel):
    """A name, and the run it stands for."""

    name: str
    run_id: UUID
    set_at: AwareDatetime
    """Since when it stands for this run."""


class NewBaseline(BaseModel):
    """The run that a baseline is to stand for."""

    model_config = ConfigDict(
        extra="forbid",
    )
    run_id: UUID


class Task(BaseModel):
    """What is asked of the model."""

    model_config = ConfigDict(
        extra="forbid",
    )
    input: Input
    """What is asked: text, an object, or a conversation as a list of messages."""
    system_prompt: str | None = None
    """Instructions that stand above it."""
    expected_output: OneOrMany | None = None
    """The accepted answer, or a list of them, for scoring."""
    context: OneOrMany | None = None
    """What the answer should rest on, for scoring."""


class CaseOfVersion(BaseModel):
    """A case of a data set."""

    model_config = ConfigDict(
        extra="forbid",
    )
    dataset_version_id: UUID
    case_id: UUID


class ExecutionConfig(BaseModel):
    """Parameters of a call."""

    model_config = ConfigDict(
        extra="forbid",
    )
    temperature: Annotated[float | None, Field(ge=0.0, le=2.0)] = None
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    top_p: Annotated[float | None, Field(ge=0.0, le=1.0)] = None
    frequency_penalty: Annotated[float | None, Field(ge=-2.0, le=2.0)] = None
    presence_penalty: Annotated[float | None, Field(ge=-2.0, le=2.0)] = None
    stop: OneOrMany | None = None
    """Texts at which the model stops."""
    stream: bool | None = None
    """Receive the answer as a stream, which measures the time to the first token."""
    cache: bool | None = True
    """Whether the reply may come from the response cache."""


class RetryPolicy(BaseModel):
    """How often a failed call is repeated."""

    model_config = ConfigDict(
        extra="forbid",
    )
    max_attempts: Annotated[int, Field(ge=1, le=100)]
    """Calls made before giving up."""


ExecutionStatus = TypeAliasType(
    "ExecutionStatus", Literal["pending", "running", "completed", "failed", "cancelled", "timeout"]
)
"""Where an execution stands."""


class TokenUsage(BaseModel):
    """Tokens of a call."""

    prompt_tokens: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]
    total_tokens: Annotated[int, Field(ge=0)]


class ExecutionError(BaseModel):
    """Why there is no answer."""

    code: str
    """`provider_error`, `timeout`, `rate_limited` or `failed`."""
    message: str
    retryable: bool
    """The same execution may succeed later."""


class ExecutionMetrics(BaseModel):
    """How long a call took."""

    request_latency_ms: float
    first_token_ms: float | None = None
    tokens_per_second: float | None = None
    queue_ms: float
    """How long the call waited for its provider's limits."""
    retry_count: Annotated[int, Field(ge=0)]
    """Calls beyond the first."""


class ExecutionScore(BaseModel):
    """The scores of an execution's answer, those of earlier requests among them."""

    execution_id: UUID
    overall_score: float | None = None
    """The mean of all scores that there are."""
    criterion_scores: dict[str, MetricResult]
    scored_at: AwareDatetime
    scored_by: str


EventKind = TypeAliasType(
    "EventKind",
    Literal[
        "run.started",
        "run.results",
        "run.completed",
        "run.incomplete",
        "run.cancelled",
        "run.failed",
        "evaluations.completed",
        "dataset.validated",
        "alert.firing",
        "alert.resolved",
        "webhook.test",
    ],
)
"""What happened."""


class Webhook(BaseModel):
    """Who is told of events."""

    webhook_id: UUID
    url: str
    """Where events are sent."""
    events: list[EventKind]
    """The events."""
    description: str | None = None
    """What it is for."""
    enabled: bool
    """Whether it is told of anything."""
    disabled_because: str | None = None
    """Why it was disabled, where the server did it."""
    created_at: AwareDatetime
    updated_at: AwareDatetime
    created_by: str | None = None
    """Who made it."""


class Webhooks(BaseModel):
    """A page of webhooks."""

    webhooks: list[Webhook]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class WebhookChange(BaseModel):
    """What is to be changed; what is not said stays."""

    model_config = ConfigDict(
        extra="forbid",
    )
    url: AnyUrl | None = None
    """Where events are sent."""
    events: Annotated[list[EventKind] | None, Field(max_length=16, min_length=1)] = None
    """The events."""
    description: Annotated[str | None, Field(max_length=1000)] = None
    """What it is for; null for nothing."""
    enabled: bool | None = None
    """Whether it is told of anything."""


class WebhookSecret(BaseModel):
    """What a receiver checks signatures with."""

    secret: SecretStr
    """`whsec_` and the secret in Base64."""


DeliveryStatus = TypeAliasType("DeliveryStatus", Literal["pending", "delivered", "failed"])
"""How far the sending of an event to a webhook has come."""


class DeliveryAttempt(BaseModel):
    """One try to send an event."""

    started_at: AwareDatetime
    duration_ms: Annotated[int, Field(ge=0)]
    """How long it took."""
    response_status: Annotated[int | None, Field(ge=0, le=65535)] = None
    """The status of the answer, if there was one."""
    problem: str | None = None
    """What went wrong."""


AlertKind = TypeAliasType(
    "AlertKind", Literal["error_rate", "latency", "queue_time", "provider_errors", "spend", "score_drop"]
)
"""What a rule watches."""


class AlertFilterInput(BaseModel):
    """What of the results a rule looks at."""

    model_config = ConfigDict(
        extra="forbid",
    )
    provider: Provider | None = None
    """Those of this provider."""
    model: Annotated[str | None, Field(max_length=255, min_length=1)] = None
    """Those of the model of this name, as results have it."""
    scorer: Annotated[str | None, Field(max_length=255, min_length=1)] = None
    """The scorer whose values are compared, by the name its scores have; for `score_drop` alone, which needs it."""


Email = TypeAliasType("Email", Annotated[str, Field(max_length=254, min_length=3)])


class AlertChannelsInput(BaseModel):
    """Who is told."""

    model_config = ConfigDict(
        extra="forbid",
    )
    webhooks: bool | None = None
    """The webhooks of the organization that take `alert.firing` and `alert.resolved`."""
    emails: Annotated[list[Email] | None, Field(max_length=20)] = None
    """Addresses of mail."""
    slack_url: AnyUrl | None = None
    """
    The address of an incoming webhook of Slack, or of a server that takes the same messages. It is kept sealed and never shown
    again; null for none.
    """


class AlertFilter(BaseModel):
    """What of the results a rule looks at; null where it does not matter."""

    provider: str | None = None
    model: str | None = None
    scorer: str | None = None


class SlackChannel(BaseModel):
    """What is shown of the address of a channel of Slack."""

    host: str
    last_four: str | None = None
    """Its last letters; null for a short one."""


AlertState = TypeAliasType("AlertState", Literal["ok", "firing", "no_data"])
"""How a rule stands."""


class AlertChange(BaseModel):
    """What is to be changed; what is not said stays."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=255, min_length=1, pattern="\\S")] = None
    """Another name."""
    threshold: Annotated[float | None, Field(ge=0.0, le=86400000.0)] = None
    """Another threshold."""
    window_seconds: Annotated[int | None, Field(ge=60, le=604800)] = None
    """How far back it looks."""
    minimum_count: Annotated[int | None, Field(ge=1, le=1000000)] = None
    """Results without which there is nothing to say."""
    filter: AlertFilterInput | None = None
    """What it looks at, in place of all that was said before."""
    repeat_seconds: Annotated[int | None, Field(ge=300, le=2592000)] = None
    """After how long it is told again that it fires; null for never."""
    channels: AlertChannelsInput | None = None
    """Who is told; a channel that is not named stays as it is."""
    enabled: bool | None = None
    """Whether it is looked at."""


class AlertTest(BaseModel):
    """What was asked to be sent."""

    notifications: Annotated[int, Field(ge=0)]
    """Messages: one for webhooks, one for each address of mail, one for Slack."""


AlertNews = TypeAliasType("AlertNews", Literal["firing", "repeated", "resolved", "test"])
"""What people are told of a rule."""


AlertChannel = TypeAliasType("AlertChannel", Literal["webhooks", "email", "slack"])
"""How people are told."""


NotificationStatus = TypeAliasType("NotificationStatus", Literal["pending", "delivered", "failed", "handed_over"])
"""How far a message has come."""


CriterionSource = TypeAliasType("CriterionSource", Literal["built_in", "user"])
"""Where a criterion comes from."""


class Scale(BaseModel):
    """The whole numbers a judge may give."""

    model_config = ConfigDict(
        extra="forbid",
    )
    min: int
    """The worst."""
    max: int
    """The best."""


class RubricLevel(BaseModel):
    """What one number of the scale means."""

    model_config = ConfigDict(
        extra="forbid",
    )
    score: int
    """The number."""
    description: str
    """What an answer is like that deserves it."""


class NewCriterion(BaseModel):
    """A criterion to be added, or what a revision is to say."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=64, min_length=1, pattern="^[a-z][a-z0-9_]*$")]
    """Lower-case letters, digits and `_`, a letter first."""
    task_introduction: Annotated[str, Field(max_length=20000, min_length=1, pattern="\\S")]
    """What the judged texts are and what they were written for."""
    evaluation_criteria: Annotated[str, Field(max_length=20000, min_length=1, pattern="\\S")]
    """What makes an answer good in this respect."""
    scale: Annotated[Scale | None, Field(validate_default=True)] = {"min": 1, "max": 5}
    """The numbers a judge may give."""
    levels: Annotated[list[RubricLevel] | None, Field(max_length=101, validate_default=True)] = []
    """What numbers of the scale mean, from the worst to the best."""
    needs_reference: bool | None = False
    """An answer cannot be judged without a reference."""
    needs_context: bool | None = False
    """An answer cannot be judged without the context it was to rest on."""


class Threshold(BaseModel):
    """A pass mark of a criterion."""

    threshold_id: UUID
    criterion: str
    """The criterion's name."""
    criterion_revision: Annotated[int, Field(ge=0)]
    """The revision that counted when it was set; it holds for later ones as well."""
    score: float
    """The mark, from 0 to 1."""
    note: str | None = None
    """Why it was set."""
    created_at: AwareDatetime
    """From when on it held."""


class NewThreshold(BaseModel):
    """A pass mark to be set."""

    model_config = ConfigDict(
        extra="forbid",
    )
    score: Annotated[float, Field(ge=0.0, le=1.0)]
    """The mark, from 0 to 1: a scale's worst is 0 and its best 1."""
    note: Annotated[str | None, Field(max_length=2000)] = None
    """Why it is set."""


JudgeMethod = TypeAliasType("JudgeMethod", Literal["g_eval", "rubric", "binary", "reference", "claims"])
"""How a judge judges."""


class StoredModel(BaseModel):
    """A model that judges."""

    model_id: UUID
    provider: str
    """Who serves it."""
    name: str
    """The provider's name for it, or the name it was given."""
    config: Any
    """How it is asked, as in an evaluation file."""
    created_at: AwareDatetime


class Judge(BaseModel):
    """A judge."""

    judge_id: UUID
    name: str
    """Its name, which its predecessors and successors have as well; the newest of them counts."""
    revision: Annotated[int, Field(ge=0)]
    """1 for the first of its name."""
    criterion: str
    """The criterion it judges by."""
    criterion_revision: Annotated[int, Field(ge=0)]
    """The revision of the criterion."""
    method: str
    """How it judges."""
    provider: str
    """Who serves its model."""
    model: str
    """The model's name."""
    parameters: Any
    """Temperature, samples and whatever else is the judge's own."""
    description: str | None = None
    """What it is for."""
    successor_of: UUID | None = None
    """The judge it took the place of."""
    created_at: AwareDatetime


class JudgePerformance(BaseModel):
    """The judgements of a judge, summed up."""

    judge_id: UUID
    name: str
    judgements: Annotated[int, Field(ge=0)]
    """How many judgements there are."""
    scored: Annotated[int, Field(ge=0)]
    """Those with a score."""
    mean: float | None = None
    """The mean of the scores, from 0 to 1."""
    spread: float | None = None
    """Their standard deviation; null for fewer than two."""
    passed: Annotated[int, Field(ge=0)]
    failed: Annotated[int, Field(ge=0)]
    pass_rate: float | None = None
    """The share that passed, of those that passed or failed."""
    unscored: dict[str, UnscoredAdditionalProperty]
    """How many have no score, for each reason."""
    mean_seconds: float | None = None
    """Mean seconds that the calls of a judgement took together; those from the response cache do not count."""
    p95_seconds: float | None = None
    """The 95th percentile of the same."""
    prompt_tokens: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]
    cost_usd: float
    """What the judgements with a known cost cost."""
    priced: Annotated[int, Field(ge=0)]
    """How many have a known cost."""


class NewDocument(BaseModel):
    """A text to be judged."""

    model_config = ConfigDict(
        extra="forbid",
    )
    input: str | None = None
    """What was asked."""
    actual_output: str
    """The text to be judged."""
    expected_output: str | None = None
    """The accepted text."""
    metadata: dict[str, Any] | None = {}
    """Anything beside it. Judges see the field that they take the context from: `context` unless they say otherwise."""


class Document(BaseModel):
    """A text to be judged."""

    document_id: UUID
    input: str | None = None
    """What was asked."""
    actual_output: str | None = None
    """The text to be judged; null only where it is gone."""
    expected_output: str | None = None
    """The accepted text."""
    metadata: dict[str, Any]
    created_at: AwareDatetime
    created_by: str | None = None
    """Who made it."""
    texts_deleted: bool
    """The texts are gone with the key that they were sealed with."""


class Documents(BaseModel):
    """A page of documents."""

    documents: list[Document]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class NewJudgement(BaseModel):
    """A document to be judged."""

    model_config = ConfigDict(
        extra="forbid",
    )
    judge_id: UUID | None = None
    """The judge, exactly as it was made; this or `judge`."""
    judge: Annotated[str | None, Field(max_length=100, min_length=1)] = None
    """The name of the judge, of which the newest is asked; this or `judge_id`."""
    document_id: UUID
    """What is judged."""
    metadata: dict[str, Any] | None = {}
    """Anything to find the judgement by."""


EvaluationVerdict = TypeAliasType("EvaluationVerdict", Literal["pass", "fail", "pending"])
"""Whether a document has passed."""


class JudgeResponse(BaseModel):
    """One reply of a judge."""

    sample: Annotated[int, Field(ge=0)]
    """Which sample it belongs to, counted from 0; a sample that is asked again has several replies."""
    part: str | None = None
    """What else tells it apart, such as a claim."""
    text: str
    """The text as it came."""
    score: float | None = None
    """The number it gives on the criterion's scale."""
    problem: str | None = None
    """Why it is no judgement."""
    prompt_tokens: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]
    latency_ms: float
    cached: bool
    """It came from the response cache."""


class NewPrompt(BaseModel):
    """A prompt to be made."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=255, min_length=1, pattern="\\S")]
    """A name that no other prompt of the organization has."""
    description: Annotated[str | None, Field(max_length=10000)] = None
    """What it is for."""


class Prompt(BaseModel):
    """A named prompt; its texts are in its versions."""

    prompt_id: UUID
    name: str
    description: str | None = None
    """What it is for."""
    created_at: AwareDatetime
    updated_at: AwareDatetime
    created_by: str | None = None
    """Who made it."""


class Prompts(BaseModel):
    """A page of prompts."""

    prompts: list[Prompt]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many match in all."""
    has_more: bool
    """There are more after these."""


class PromptChange(BaseModel):
    """What of a prompt to change; what is left out stays as it is."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=255, min_length=1, pattern="\\S")] = None
    """Another name."""
    description: Annotated[str | None, Field(max_length=10000)] = None
    """Another description; null removes it."""


class NewProviderKey(BaseModel):
    """A key to be kept."""

    model_config = ConfigDict(
        extra="forbid",
    )
    key: Annotated[str, Field(max_length=4096, min_length=8)]
    """The key, as the provider gave it."""
    base_url: str | None = None
    """The address that it is for, where that is not the provider's own; one that the server may reach."""


class ProviderKey(BaseModel):
    """A key of a provider, without the key."""

    provider: Provider
    base_url: str | None = None
    """The address that it is sent to; null for the provider's own."""
    last_four: str | None = None
    """Its last letters; null for a short one."""
    created_at: AwareDatetime
    last_used_at: AwareDatetime | None = None
    """When a call was last made with it, to the minute."""
    created_by: str | None = None
    """Who kept it."""


class ProviderKeys(BaseModel):
    """All keys of the organization."""

    provider_keys: list[ProviderKey]
    """By provider and address."""


class Problem(BaseModel):
    """What went wrong, as every endpoint says it (RFC 9457)."""

    type: str
    """A page about this kind of problem."""
    title: str
    """The kind of problem in a few words."""
    status: Annotated[int, Field(ge=0, le=65535)]
    """The status of the response."""
    code: str
    """A word for programs: it never changes its meaning."""
    detail: str
    """What went wrong this time."""
    hint: str | None = None
    """What to do about it."""
    errors: list[FieldProblem] | None = None
    """What is wrong with which field."""
    request_id: str | None = None
    """The request, as logs name it."""


class SignedIn(BaseModel):
    """Somebody who is signed in."""

    user_id: UUID
    email: str
    name: str
    role: UserRole
    has_password: bool
    """Whether they have a password."""
    has_second_factor: bool
    """Whether a code is asked for when they sign in."""


class OwnSessions(BaseModel):
    """Where you are signed in."""

    sessions: list[OwnSession]


class OrganizationSettings(BaseModel):
    """What an organization has decided for all its members."""

    default_evaluators: list[str]
    """Metrics of an evaluation that names none."""
    cost_budget_monthly_usd: float | None = None
    """What may be spent in a month."""
    data_retention_days: Annotated[int | None, Field(ge=0)] = None
    """For how long results are kept."""
    requests_per_minute: Annotated[int | None, Field(ge=0)] = None
    """Requests that all keys and members together may make in a minute, where that is less than the server allows."""
    scrub: list[ScrubKind]
    """What is taken out of texts before they are kept: `email`, `phone`, `card`, `key`."""
    encrypt_texts: bool
    """Texts are sealed with the organization's own key before they are kept: deleting the key deletes them."""


class OrganizationChange(BaseModel):
    """What is to be different; what is left out stays, and null takes away."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=255, min_length=1)] = None
    billing_email: Annotated[str | None, Field(max_length=254)] = None
    """Who gets the bill."""
    settings: OrganizationSettingsChange | None = None


class Erased(BaseModel):
    """What was erased."""

    organization_id: UUID
    erased_at: AwareDatetime
    rows: list[ErasedRows]
    """Rows that were removed, by table."""
    blobs: Annotated[int, Field(ge=0)]
    """Blocks of data sets that nobody else had."""
    files: Annotated[int, Field(ge=0)]
    """Uploaded files."""
    cached_replies: Annotated[int, Field(ge=0)]
    """Replies of providers in the response cache."""
    sha256: str
    """SHA-256 of the receipt, which the log of the installation has too."""


class OrganizationUsage(BaseModel):
    """What the organization has used of what it may."""

    stored_bytes: Used
    """Bytes of uploaded files."""
    open_runs: Used
    """Runs that wait or are worked on."""
    records: Used
    """Results, planned ones too, and documents, as it was some seconds ago."""
    month_usd: Spent
    """Dollars that were spent this month (UTC)."""


class Invitations(BaseModel):
    """Everybody who was asked."""

    invitations: list[Invitation]


class ApiKeys(BaseModel):
    """Keys of the organization."""

    api_keys: list[ApiKey]


class AuditLog(BaseModel):
    """A page of the audit log."""

    entries: list[AuditEntry]
    """The newest first."""
    next_cursor: Annotated[int | None, Field(ge=0)] = None
    """Where the next page begins; null after the last one."""


class NewDataset(BaseModel):
    """A data set to be made."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=255, min_length=1, pattern="\\S")]
    """A name that no other of the organization has."""
    description: Annotated[str | None, Field(max_length=10000)] = None
    """What it is about."""
    type: DatasetKind
    """What it is for."""
    tags: Annotated[list[Tag] | None, Field(max_length=64)] = []
    """Words to find it by."""


class NewDatasetVersion(BaseModel):
    """A file with cases, and how to read it."""

    file: bytes
    """CSV with a header line, one JSON list, JSON Lines, or Parquet."""
    description: Annotated[str | None, Field(max_length=10000)] = None
    """What is new in this version."""
    format: UploadFormat | None = None
    """The format of the file. Default: what the ending of its name says."""
    input: Annotated[str | None, Field(max_length=512, min_length=1, pattern="\\S")] = None
    """The field with the input. Default: the first of `input`, `prompt`, `question` and `conversation` that there is."""
    reference: Annotated[list[ReferenceItem] | None, Field(max_length=16)] = None
    """The fields with accepted answers. Default: `expected_output`, `reference` and `references`."""
    id: Annotated[str | None, Field(max_length=512, min_length=1, pattern="\\S")] = None
    """The field with the id of a case. Default: `id`, or a hash of the input."""


class UploadedVersion(BaseModel):
    """A version that was uploaded."""

    version_id: UUID
    dataset_id: UUID
    version_number: Annotated[int, Field(ge=0)]
    status: UploadStatus
    row_count: Annotated[int | None, Field(ge=0)] = None
    """Rows, once they are counted."""
    file_uri: str
    """Names the file."""
    file_format: FileFormat
    file_bytes: Annotated[int, Field(ge=0)]
    """The size of the file."""
    file_sha256: str
    """SHA-256 of the file, in hexadecimal digits."""
    created_at: AwareDatetime


class Column(BaseModel):
    """A column."""

    name: str
    """Its name."""
    type: ColumnType
    """Its type."""
    nullable: bool
    """Some rows have nothing there: the field is missing or null, or the cell of a CSV file is empty."""


class RowProblem(BaseModel):
    """A problem with a row, or with the file where no row is named."""

    row: Annotated[int | None, Field(ge=0)] = None
    """The row, counted from 1 without a header line."""
    line: Annotated[int | None, Field(ge=0)] = None
    """Its line, where the format has lines."""
    column: str | None = None
    """The column, by its name."""
    code: ProblemCode
    """What is wrong, for programs."""
    message: str
    """What is wrong, for people."""
    hint: str | None = None
    """What to do about it."""


class TestCases(BaseModel):
    """A page of cases."""

    cases: list[TestCase]
    """In the order of the file."""
    total: Annotated[int, Field(ge=0)]
    """How many match in all."""
    has_more: bool
    """There are more after these."""
    next_cursor: str | None = None
    """What to send as `cursor` for those."""


class NewGroundTruth(BaseModel):
    """An answer to be agreed on."""

    model_config = ConfigDict(
        extra="forbid",
    )
    value: GroundTruthValue
    source: GroundTruthSource
    """Who says so."""
    confidence: Annotated[float | None, Field(ge=0.0, le=1.0)] = None
    """How sure they are."""


class SampleRequest(BaseModel):
    """A sample to be drawn."""

    model_config = ConfigDict(
        extra="forbid",
    )
    size: Annotated[int, Field(ge=1, le=10000)]
    """How many cases."""
    strategy: CaseSampleStrategy | None = None
    stratify_by: Annotated[str | None, Field(max_length=512, min_length=1, pattern="\\S")] = None
    """The field whose values are the strata: a column, or an entry of the metadata."""
    seed: Annotated[int | None, Field(ge=0, le=9007199254740991)] = None
    """The same seed gives the same sample. Default: one that is drawn."""


class CaseSample(BaseModel):
    """A sample."""

    cases: list[TestCase]
    """In the order of the file."""
    sample_size: Annotated[int, Field(ge=0)]
    """How many there are: fewer than were asked for where the version has no more."""
    seed: Annotated[int, Field(ge=0)]
    """Gives the same sample again."""
    strata: list[Stratum] | None = None
    """What each value of the field has in it, of a stratified sample."""


class CaseList(BaseModel):
    """Cases of one sort: all are counted, a page of them is given."""

    count: Annotated[int, Field(ge=0)]
    """How many there are."""
    cases: list[CaseDifference]
    """Those of the page."""


class SchemaDiff(BaseModel):
    """What differs between the columns of two versions."""

    added: list[Column]
    """Columns that only the right version has."""
    removed: list[Column]
    """Columns that only the left version has."""
    retyped: list[RetypedColumn]
    """Columns that have another type."""


Metric = TypeAliasType("Metric", str | Scorer)
"""A metric by its name, or a scorer with its parameters."""


class ModelConfig(BaseModel):
    """A model to run: who serves it, its name there, and how it is asked."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str | None = None
    """What the model is called in tables and reports; `provider:model` unless given."""
    provider: Provider
    """Who serves the model."""
    model: str | None = None
    """The model's name at the provider; for `local` the path of a GGUF file, or a name, `smollm2-135m-instruct` unless given."""
    field: str | None = None
    """Recorded answers only: the field of the case that has the answer, `output` unless given."""
    base_url: str | None = None
    """Where the provider is served, when not at its usual address."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key. With a `base_url` no key is sent unless this is given."""
    temperature: float | None = None
    """Sampling temperature, 0 to 2."""
    top_p: float | None = None
    """Nucleus sampling: the share of probability to sample from, above 0 and up to 1."""
    top_k: Annotated[int | None, Field(ge=0)] = None
    """Sample from this many of the most likely tokens."""
    frequency_penalty: float | None = None
    """Penalty on tokens by how often they have appeared, -2 to 2."""
    presence_penalty: float | None = None
    """Penalty on tokens that have appeared at all, -2 to 2."""
    max_tokens: Annotated[int | None, Field(ge=0)] = None
    """Most tokens an answer may have."""
    stop: OneOrMany2 | None = None
    """Texts at which the model stops: one or a list."""
    seed: int | None = None
    """Seed of the provider's sampling; repetition r is asked with seed + r, so that repetitions differ."""
    n: Annotated[int | None, Field(ge=0)] = None
    """Choices to ask for in one call; the first is scored, the others are kept."""
    reasoning_effort: str | None = None
    """How much a reasoning model thinks: `minimal`, `low`, `medium`, `high` or what the provider knows."""
    top_logprobs: Annotated[int | None, Field(ge=0)] = None
    """Log-probabilities of this many alternatives per token; 0 gives those of the answer alone."""
    stream: bool | None = None
    """Receive the answer as a stream, which measures the time to the first token."""
    json_schema: Any | None = None
    """JSON Schema the answer must have (structured output)."""
    choices: list[str] | None = None
    """Answers to choose from: the most probable one is the answer, and the probability of each is kept. Only for `local`."""
    extra: dict[str, Any] | None = None
    """Parameters of the provider that have no name here, passed on as they are."""
    price: Price | None = None
    """Price in dollars per million tokens, when the built-in table is wrong or has none."""
    limits: LimitsOverride | None = None
    """Limits of this model where they differ from those of the run."""
    endpoints: list[EndpointConfig] | None = None
    """
    Equivalent deployments of the model: the same model at several addresses or with several keys. Calls go to these
    alone, each result names the one that answered, and the response cache does not tell them apart.
    """
    route: RoutePolicy | None = None
    """Which of the `endpoints` with a free place gets a call: `latency`, `cost` or `priority` (their order)."""


class Evaluation(BaseModel):
    """An evaluation of one answer."""

    evaluation_id: UUID
    status: EvaluationStatus
    scores: dict[str, float | None]
    """The score of each metric from 0 to 1, higher is better; null where there is none, for which `results` has the reason."""
    reasoning: dict[str, str]
    """Why each score is what it is, where the metric says so."""
    results: dict[str, MetricResult]
    """Everything else about each score."""
    latency_ms: Annotated[int, Field(ge=0)]
    """How long scoring took."""
    cost_usd: float
    """What scoring cost."""
    created_at: AwareDatetime
    completed_at: AwareDatetime | None = None
    metadata: dict[str, Any]
    """What was sent beside the answer."""


class MessageTemplates(BaseModel):
    """The prompt as messages; each text is a template over the case's fields."""

    model_config = ConfigDict(
        extra="forbid",
    )
    system: str | None = None
    """Instructions that stand above the conversation."""
    examples: Annotated[list[ExampleTemplate] | None, Field(validate_default=True)] = []
    """Question and answer pairs shown before the question."""
    user: str | None = None
    """The question. Default: the case's input, or its whole conversation."""


class StartedBatch(BaseModel):
    """A batch that was taken on."""

    job_id: UUID
    status: JobStatus
    estimated_completion: AwareDatetime
    """A rough guess."""
    total_items: Annotated[int, Field(ge=0)]
    """Units: cases × models × repetitions."""


class BatchEvaluation(BaseModel):
    """A batch with its progress and its numbers."""

    job_id: UUID
    name: str
    status: JobStatus
    progress: BatchProgress
    summary_scores: dict[str, ScoreNumbers]
    """The numbers of each score; of the first model where there are several."""
    models: list[ModelNumbers]
    """The numbers of every model."""
    gates: list[Gate]
    """The conditions of the batch, judged."""
    total_cost_usd: float
    dataset_version_id: UUID | None = None
    baseline_run_id: UUID | None = None
    created_at: AwareDatetime
    started_at: AwareDatetime | None = None
    completed_at: AwareDatetime | None = None
    notes: list[str]
    """What the user should know."""
    metadata: dict[str, Any]


class EvaluationResults(BaseModel):
    """A page of results."""

    results: list[EvaluationResult]
    """By case, model and repetition."""
    has_more: bool
    """There may be more after these."""
    next_cursor: str | None = None
    """What to ask for them with."""


class Comparison(BaseModel):
    """Two runs, compared case by case."""

    before: UUID
    """The run that is compared with."""
    after: UUID
    """The batch."""
    scores: list[ComparedScore]
    """Each model and score."""
    conclusion: list[str]
    """What it comes to, in sentences."""
    other_data: bool
    """The runs used different data."""
    notes: list[str]
    """Models and scorers that only one of the runs has, and scorers whose definition changed."""


class BatchVerdict(BaseModel):
    """Whether a batch passes."""

    job_id: UUID
    status: JobStatus
    passed: bool
    """The batch is completed, every gate holds, and nothing is worse than in the baseline."""
    reasons: list[str]
    """Why it does not pass; or what it rests on."""
    gates: list[Gate]
    comparison: Comparison | None = None


class EvaluationRuns(BaseModel):
    """A page of runs."""

    runs: list[EvaluationRun]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many match in all."""
    has_more: bool
    """There are more after these."""


class Baselines(BaseModel):
    """All baselines."""

    baselines: list[Baseline]
    """By name."""


class ModelResponse(BaseModel):
    """What a model answered."""

    content: str
    finish_reason: str
    token_usage: TokenUsage | None = None
    reported_model: str | None = None
    """The model that the provider says answered."""
    cached: bool
    """It came from the response cache."""


class NewWebhook(BaseModel):
    """Who is to be told of events."""

    model_config = ConfigDict(
        extra="forbid",
    )
    url: AnyUrl
    """Where events are sent; an address of the public internet, unless the server allows others."""
    events: Annotated[list[EventKind] | None, Field(max_length=16, min_length=1)] = [
        "run.completed",
        "run.incomplete",
        "run.cancelled",
        "run.failed",
        "dataset.validated",
    ]
    """The events. Default: the ends of runs, and versions of data sets that were looked through."""
    description: Annotated[str | None, Field(max_length=1000)] = None
    """What it is for."""


class Delivery(BaseModel):
    """An event on its way to a webhook."""

    delivery_id: UUID
    """The `webhook-id` of every try."""
    webhook_id: UUID | None = None
    """The webhook; null for the `webhook_url` of a batch."""
    run_id: UUID | None = None
    event_id: Annotated[int, Field(ge=0)]
    """The event."""
    type: EventKind
    url: str
    """Where it is sent."""
    status: DeliveryStatus
    attempts: Annotated[int, Field(ge=0)]
    """How often it was tried."""
    next_attempt_at: AwareDatetime | None = None
    """When it is tried again."""
    created_at: AwareDatetime
    delivered_at: AwareDatetime | None = None


class Deliveries(BaseModel):
    """A page of deliveries."""

    deliveries: list[Delivery]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many match in all."""
    has_more: bool
    """There are more after these."""


class DeliveryLog(BaseModel):
    """An event on its way to a webhook, with every try to send it."""

    delivery_id: UUID
    """The `webhook-id` of every try."""
    webhook_id: UUID | None = None
    """The webhook; null for the `webhook_url` of a batch."""
    run_id: UUID | None = None
    event_id: Annotated[int, Field(ge=0)]
    """The event."""
    type: EventKind
    url: str
    """Where it is sent."""
    status: DeliveryStatus
    attempts: Annotated[int, Field(ge=0)]
    """How often it was tried."""
    next_attempt_at: AwareDatetime | None = None
    """When it is tried again."""
    created_at: AwareDatetime
    delivered_at: AwareDatetime | None = None
    log: list[DeliveryAttempt]
    """Every try, in order."""


class NewAlert(BaseModel):
    """What is to be watched, and who is to be told."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=255, min_length=1, pattern="\\S")]
    """A name that no other rule of the organization has."""
    kind: AlertKind
    """What it watches."""
    threshold: Annotated[float, Field(ge=0.0, le=86400000.0)]
    """
    It fires when the value is over this: a share from 0 to 1 (`error_rate`, `provider_errors`), a share of the budget (`spend`),
    milliseconds (`latency`), seconds (`queue_time`), a difference of means from 0 to 1 (`score_drop`).
    """
    window_seconds: Annotated[int | None, Field(ge=60, le=604800)] = 3600
    """How far back it looks; `spend` looks at the month."""
    minimum_count: Annotated[int | None, Field(ge=1, le=1000000)] = 20
    """Results without which there is nothing to say; in each window, where two are compared. `queue_time` and `spend` need none."""
    filter: AlertFilterInput | None = None
    """What it looks at; everything where nothing is said."""
    repeat_seconds: Annotated[int | None, Field(ge=300, le=2592000)] = None
    """After how long it is told again that it fires; null for never."""
    channels: AlertChannelsInput | None = None
    """Who is told."""
    enabled: bool | None = True
    """Whether it is looked at."""


class AlertChannels(BaseModel):
    """Who is told."""

    webhooks: bool
    """The webhooks of the organization that take events of alerts."""
    emails: list[str]
    """Addresses of mail."""
    slack: SlackChannel | None = None
    """A channel of Slack."""


class AlertNotification(BaseModel):
    """What was told of a rule in one way, or is to be."""

    notification_id: UUID
    news: AlertNews
    """What is told."""
    channel: AlertChannel
    recipient: str | None = None
    """Whom mail goes to."""
    value: float | None = None
    """The value when it was told; null where it was not known."""
    status: NotificationStatus
    attempts: Annotated[int, Field(ge=0)]
    """How often it was tried."""
    next_attempt_at: AwareDatetime | None = None
    """When it is tried again."""
    problem: str | None = None
    """What went wrong the last time."""
    event_id: Annotated[int | None, Field(ge=0)] = None
    """The event that webhooks are sent; `/v1/webhook-deliveries` has what came of it."""
    created_at: AwareDatetime
    delivered_at: AwareDatetime | None = None


class CriterionRevision(BaseModel):
    """A criterion in one revision."""

    criterion_id: UUID | None = None
    """The id of the revision; null for a built-in criterion that nobody has used yet."""
    name: str
    revision: Annotated[int, Field(ge=0)]
    source: CriterionSource
    task_introduction: str
    """What the judged texts are and what they were written for."""
    evaluation_criteria: str
    """What makes an answer good in this respect."""
    scale: Scale
    """The numbers a judge may give."""
    levels: list[RubricLevel]
    """What numbers of the scale mean, from the worst to the best."""
    needs_reference: bool
    """An answer cannot be judged without a reference."""
    needs_context: bool
    """An answer cannot be judged without the context it was to rest on."""
    threshold: float | None = None
    """The pass mark that holds now, from 0 to 1."""
    created_at: AwareDatetime | None = None
    """When the first revision was made."""
    updated_at: AwareDatetime | None = None
    """When this revision was made."""


class CriterionRevisions(BaseModel):
    """A page of revisions."""

    revisions: list[CriterionRevision]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class Thresholds(BaseModel):
    """Pass marks of a criterion."""

    thresholds: list[Threshold]
    """The newest first, which is the one that holds."""
    total: Annotated[int, Field(ge=0)]
    """How many there were in all."""
    has_more: bool
    """There are more after these."""


class MethodInfo(BaseModel):
    """A way of judging."""

    name: JudgeMethod
    description: str
    """What it does, in a line."""
    method_id: UUID | None = None
    """The id it has since a judge uses it."""
    created_at: AwareDatetime | None = None
    """When a judge first used it."""


class StoredModels(BaseModel):
    """A page of models."""

    models: list[StoredModel]
    """By provider and name."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class Judges(BaseModel):
    """A page of judges."""

    judges: list[Judge]
    """By name, the newest of each."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class Judgement(BaseModel):
    """What one judge says of one document."""

    judgement_id: UUID
    judge_id: UUID | None = None
    document_id: UUID | None = None
    status: RunState
    """Where it stands."""
    evaluation_status: EvaluationVerdict | None = None
    """Whether the document passed; null where the criterion has no pass mark, or no score can be given."""
    final_score: float | None = None
    """The score on the criterion's scale."""
    final_score_normalized: float | None = None
    """The score from 0 to 1."""
    reasoning: str | None = None
    """Why the score is what it is."""
    threshold: float | None = None
    """The pass mark that held, from 0 to 1."""
    criterion: str | None = None
    method: str | None = None
    model: str | None = None
    """The judging model's name."""
    all_responses: list[JudgeResponse]
    """Every reply of the model, in the order in which it was asked for."""
    total_usage_tokens: Annotated[int, Field(ge=0)]
    prompt_tokens: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]
    cost_usd: float | None = None
    """What the judgement cost; null where no price is known."""
    execution_time_seconds: float | None = None
    """Seconds that the calls to the model took together."""
    prompt_used: str | None = None
    """The prompt as it was sent, one message after the other."""
    error_message: str | None = None
    """Why there is no score."""
    metadata: dict[str, Any]
    """What was sent beside it."""
    started_at: AwareDatetime | None = None
    completed_at: AwareDatetime | None = None
    created_at: AwareDatetime
    created_by: str | None = None
    texts_deleted: bool
    """Its texts are gone with the key that they were sealed with: its numbers stay."""


class Judgements(BaseModel):
    """A page of judgements."""

    judgements: list[Judgement]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many match in all."""
    has_more: bool
    """There are more after these."""


class NewPromptVersion(BaseModel):
    """A text of a prompt to be added: `template` or `messages`."""

    model_config = ConfigDict(
        extra="forbid",
    )
    template: Annotated[str | None, Field(max_length=200000, min_length=1)] = None
    """One message of the user as a Jinja template over a case's fields: `{{ input }}`."""
    messages: MessageTemplates | None = None
    """Templates by role, as in an evaluation file."""
    description: Annotated[str | None, Field(max_length=10000)] = None
    """What is new in it."""


class PromptVersion(BaseModel):
    """A version of a prompt."""

    prompt_version_id: UUID
    prompt_id: UUID
    version_number: Annotated[int, Field(ge=0)]
    """1 for the first."""
    template: str | None = None
    """One message of the user as a template; null where there are `messages`."""
    messages: MessageTemplates | None = None
    """Templates by role; null where there is a `template`."""
    variables: list[str]
    """The variables that the templates use: fields of a case, `input`, `reference`, `references`."""
    content_hash: str
    """BLAKE3 of the template, or of the messages as JSON, in hexadecimal digits."""
    description: str | None = None
    """What is new in it."""
    created_at: AwareDatetime
    created_by: str | None = None
    """Who made it."""
    texts_deleted: bool
    """The text is gone with the key that it was sealed with: there is neither `template` nor `messages`."""


class PromptVersions(BaseModel):
    """A page of versions."""

    versions: list[PromptVersion]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class Session(BaseModel):
    """Who is signed in, and what they may do."""

    session_id: UUID
    user: SignedIn
    organization: SessionOrganization
    actions: list[Action]
    """All that their role allows."""
    csrf_token: str
    """For the header `X-CSRF-Token` of requests that change something."""
    expires_at: AwareDatetime
    """When they have to sign in again, however much the session is used."""


class Organization(BaseModel):
    """An organization: it owns everything that is made with its keys."""

    organization_id: UUID
    name: str
    slug: str
    plan: Plan
    """What it pays for; who runs the server decides on it, and on what it allows."""
    settings: OrganizationSettings
    billing_email: str | None = None
    created_at: AwareDatetime
    updated_at: AwareDatetime


class DatasetSchema(BaseModel):
    """The columns of a data set, in the order of their first appearance."""

    columns: list[Column]
    """The columns."""


class DatasetVersionDiff(BaseModel):
    """What differs between two versions."""

    from_: Annotated[int, Field(alias="from", ge=0)]
    """The number of the left version."""
    to: Annotated[int, Field(ge=0)]
    """The number of the right version."""
    added: CaseList
    """Cases that only the right version has, in its order."""
    removed: CaseList
    """Cases that only the left version has, in its order."""
    changed: CaseList
    """Cases that both have with other content, in the order of the right version."""
    unchanged: CaseList
    """Cases that are the same in both, in the order of the right version."""
    schema_: Annotated[SchemaDiff, Field(alias="schema")]
    """What differs between the columns."""
    mapping_changed: bool
    """The versions take other fields as input or reference."""
    has_more: bool
    """Some list has more after these."""


Model = TypeAliasType("Model", str | ModelConfig)


class BatchConfig(BaseModel):
    """How a data set is evaluated."""

    model_config = ConfigDict(
        extra="forbid",
    )
    sample_rate: Annotated[float | None, Field(ge=0.0, le=1.0)] = 1.0
    """The share of the cases to run, above 0 and up to 1."""
    sample_strategy: SampleStrategy | None = "random"
    """How the share is drawn."""
    stratify_by: str | None = None
    """The field whose values are the strata."""
    seed: Annotated[int | None, Field(ge=0)] = None
    """The seed of the sample: the same seed gives the same cases."""
    evaluator_model: Model | None = None
    """The model that judges: `provider:model`, or an object."""
    custom_rubrics: dict[str, Any] | None = {}
    """Criteria of your own by metric: a text, or an object with `description`, `scale` and `levels`."""
    parallelism: Annotated[int | None, Field(ge=1, le=1000)] = 10
    """Calls to a provider at the same time."""
    repetitions: Annotated[int | None, Field(ge=1, le=10000)] = 1
    """How often each model answers each case."""
    budget_usd: Annotated[float | None, Field(ge=0.0)] = None
    """What the run may spend."""
    gates: Annotated[list[str] | None, Field(max_length=100)] = []
    """Conditions that must hold, for example `exact_match.mean >= 0.8`."""
    cache: bool | None = True
    """Whether replies of providers are kept and served."""


class NewExecution(BaseModel):
    """A task for a model."""

    model_config = ConfigDict(
        extra="forbid",
    )
    task: Task | None = None
    """The task itself; or `case`."""
    case: CaseOfVersion | None = None
    """A case of a data set, instead of `task`."""
    model: Model
    """The model: `provider:model`, or an object."""
    config: ExecutionConfig | None = None
    """Parameters of the call, where `model` is only a name."""
    priority: Priority | None = None
    timeout_ms: Annotated[int | None, Field(ge=1, le=3600000)] = None
    """How long the call may take."""
    retry_policy: RetryPolicy | None = None
    metadata: dict[str, Any] | None = {}
    """Anything to find the execution by."""


class Execution(BaseModel):
    """A task for a model, and what came of it."""

    execution_id: UUID
    status: ExecutionStatus
    priority: Priority
    provider: str
    model: str
    created_at: AwareDatetime
    start_time: AwareDatetime | None = None
    end_time: AwareDatetime | None = None
    duration_ms: int | None = None
    response: ModelResponse | None = None
    error: ExecutionError | None = None
    metrics: ExecutionMetrics | None = None
    cost_usd: float | None = None
    metadata: dict[str, Any]
    texts_deleted: bool
    """Its texts are gone with the key that they were sealed with: there is no `response`."""


class Executions(BaseModel):
    """A page of executions."""

    executions: list[Execution]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    has_more: bool


class NewScore(BaseModel):
    """What an answer is to be scored by."""

    model_config = ConfigDict(
        extra="forbid",
    )
    metrics: Annotated[list[Metric] | None, Field(max_length=64, validate_default=True)] = []
    """Names of scorers, of stored judges or of criteria, or scorers with their parameters. Default: the organization's own."""
    evaluator_model: Model | None = None
    """The model that judges: `provider:model`, or an object."""
    custom_rubrics: dict[str, Any] | None = {}
    """Criteria of your own by metric."""


class Alert(BaseModel):
    """A rule, and how it stands."""

    alert_id: UUID
    name: str
    kind: AlertKind
    """What it watches."""
    threshold: float
    """It fires when the value is over this."""
    window_seconds: Annotated[int, Field(ge=0)]
    """How far back it looks."""
    minimum_count: Annotated[int, Field(ge=0)]
    """Results without which there is nothing to say."""
    filter: AlertFilter
    repeat_seconds: Annotated[int | None, Field(ge=0)] = None
    """After how long it is told again that it fires; null for never."""
    channels: AlertChannels
    enabled: bool
    """Whether it is looked at."""
    state: AlertState
    """How it stands. One that fires stays so while there is not enough data."""
    since: AwareDatetime
    """When it came to this state."""
    last_value: float | None = None
    """The value when it was last looked at; null without enough data."""
    last_count: Annotated[int | None, Field(ge=0)] = None
    """The results it is made of."""
    last_subject: str | None = None
    """What it is the value of, where the rule leaves it open: the provider with the largest share, the scorer and its hash."""
    last_evaluated_at: AwareDatetime | None = None
    last_notified_at: AwareDatetime | None = None
    """When it was last told that it fires."""
    created_at: AwareDatetime
    updated_at: AwareDatetime
    created_by: str | None = None
    """Who made it."""


class Alerts(BaseModel):
    """A page of rules."""

    alerts: list[Alert]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class AlertNotifications(BaseModel):
    """A page of what was told."""

    notifications: list[AlertNotification]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class Criteria(BaseModel):
    """A page of criteria."""

    criteria: list[CriterionRevision]
    """By name, each in its newest revision."""
    total: Annotated[int, Field(ge=0)]
    """How many match in all."""
    has_more: bool
    """There are more after these."""


class Methods(BaseModel):
    """All ways of judging."""

    methods: list[MethodInfo]
    """By name."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class NewJudge(BaseModel):
    """A judge to be made."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=100, min_length=1, pattern="^[a-z0-9][a-z0-9_.-]*$")]
    """Lower-case letters, digits, `_`, `-` and `.`, a letter or digit first."""
    criterion: Annotated[str, Field(max_length=100, min_length=1)]
    """The name of the criterion it judges by, in its newest revision."""
    method: JudgeMethod
    model: Model
    """The model it asks: the id of a stored one, `provider:model`, or an object."""
    parameters: dict[str, Any] | None = {}
    """Temperature, samples and whatever else is the judge's own, as in an evaluation file."""
    description: Annotated[str | None, Field(max_length=10000)] = None
    """What it is for."""
    successor_of: UUID | None = None
    """The id of the newest judge of this name, whose place it takes."""


class DatasetVersion(BaseModel):
    """A version of a data set: the file that was uploaded, and what was found in it."""

    version_id: UUID
    dataset_id: UUID
    version_number: Annotated[int, Field(ge=0)]
    """1 for the first."""
    status: VersionStatus
    """Published versions never change."""
    description: str | None = None
    """What is new in it."""
    file_uri: str
    """Names the file; `download?format=original` gives it."""
    file_format: FileFormat
    file_bytes: Annotated[int, Field(ge=0)]
    """The size of the file."""
    file_sha256: str
    """SHA-256 of the file, in hexadecimal digits."""
    row_count: Annotated[int | None, Field(ge=0)] = None
    """Rows, once they are counted."""
    schema_: Annotated[DatasetSchema | None, Field(alias="schema")] = None
    """The columns, once the rows have been looked at."""
    schema_hash: str | None = None
    """SHA-256 over the names and types of the columns."""
    validation_status: ValidationStatus
    """Whether the rows have been looked at."""
    validation_errors: list[RowProblem]
    """The first problems by row and column; a list of versions shows ten of each."""
    texts_deleted: bool
    """The problems that were shown are gone with the key that they were sealed with."""
    error_count: Annotated[int, Field(ge=0)]
    """How many problems there are."""
    ground_truth_revision: Annotated[int, Field(ge=0)]
    """How many agreed answers were added."""
    created_at: AwareDatetime
    updated_at: AwareDatetime
    created_by: str | None = None
    """Who uploaded it."""


class SingleConfig(BaseModel):
    """How an answer is evaluated."""

    model_config = ConfigDict(
        extra="forbid",
    )
    sync: bool | None = True
    """Wait for the scores; otherwise the evaluation goes into the queue."""
    evaluator_model: Model | None = None
    """The model that judges: `provider:model`, or an object."""
    custom_rubrics: dict[str, Any] | None = {}
    """Criteria of your own by metric: a text, or an object with `description`, `scale` and `levels`."""
    timeout_ms: Annotated[int | None, Field(ge=1, le=600000)] = 30000
    """How long to wait for judges; what is there by then is given, the rest follows later."""
    priority: Priority | None = None
    """How soon an asynchronous evaluation should be done."""


class NewBatch(BaseModel):
    """A data set to be evaluated."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=255, min_length=1)] = None
    """What the run is called. Default: the name of the data set with the number of its version."""
    dataset_version_id: UUID
    """The version of the data set."""
    metrics: Annotated[list[Metric] | None, Field(max_length=64, validate_default=True)] = []
    """Names of scorers, of stored judges or of criteria, or scorers with their parameters. Default: the organization's own."""
    models: Annotated[list[Model] | None, Field(max_length=64, validate_default=True)] = []
    """The models that answer. Default: the answers that the data has in its field `output`."""
    prompt: str | None = None
    """The prompt as a Jinja template over the fields of a case. Default: the case's input."""
    messages: MessageTemplates | None = None
    """The prompt as messages, instead of `prompt`."""
    config: BatchConfig | None = None
    webhook_url: Annotated[str | None, Field(max_length=2048)] = None
    """Who is told when the batch ends: it gets a POST, signed with the secret at `/v1/organization/webhook-secret`."""
    priority: Priority | None = None
    baseline: str | None = None
    """A baseline by its name: the run is a regression run, compared with it."""
    experiment_id: UUID | None = None
    variant_id: UUID | None = None
    metadata: dict[str, Any] | None = {}
    """Anything to find the run by."""


class DatasetVersions(BaseModel):
    """A page of versions."""

    versions: list[DatasetVersion]
    """The newest first."""
    total: Annotated[int, Field(ge=0)]
    """How many there are in all."""
    has_more: bool
    """There are more after these."""


class NewEvaluation(BaseModel):
    """An answer to be evaluated."""

    model_config = ConfigDict(
        extra="forbid",
    )
    input: Input
    """What was asked: text, an object, or a conversation as a list of messages."""
    output: str
    """What the model answered."""
    expected_output: OneOrMany | None = None
    """The accepted answer, or a list of them, of which the best match counts."""
    context: OneOrMany | None = None
    """What the answer should rest on: a text, or a list of passages."""
    metrics: Annotated[list[Metric] | None, Field(max_length=64, validate_default=True)] = []
    """Names of scorers, of stored judges or of criteria, or scorers with their parameters. Default: the organization's own."""
    config: SingleConfig | None = None
    metadata: dict[str, Any] | None = {}
    """Anything to find the evaluation by, such as `model_name`, `model_version` and `prompt_version`."""
