"""Generated from schema/openapi.json by scripts/sdk-python; changes made here are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from ..calls import Call, Download, Form, Upload, path_of
from . import models


def get_health() -> Call[models.Health]:
    """Whether the server lives.

    Answers as long as the process lives; asks nothing else.
    """
    return Call("GET", "/healthz", models.Health)


def get_readiness() -> Call[models.Health]:
    """Whether the server can work.

    Answers 503 while the database cannot be asked or the server is shutting down.
    """
    return Call("GET", "/readyz", models.Health)


def get_metrics() -> Download:
    """Measurements of the server.

    In the text format of Prometheus. For who runs the server: with the token of `FULLBENCH_METRICS_TOKEN` as a bearer key, or without one from the machine itself. Nothing of what organizations keep is in it but their ids and the names of models and scorers.
    """
    return Download("GET", "/metrics")


def sign_in(body: models.SignIn | Mapping[str, Any]) -> Call[models.Session]:
    """Sign in.

    The answer sets a cookie that no script can read. Requests with the cookie that change something need the header `X-CSRF-Token` with the `csrf_token` of the answer. Whether the mail address, the password or the code was wrong is not said; after five failures there are waits, told by `Retry-After`. A password that is right without the code of a second factor is answered with `second_factor_needed`.
    """
    return Call("POST", "/v1/session", models.Session, body=body)


def get_session() -> Call[models.Session]:
    """Who is signed in.

    And what they may do.
    """
    return Call("GET", "/v1/session", models.Session)


def sign_out() -> Call[None]:
    """Sign out.

    The session ends at once.
    """
    return Call("DELETE", "/v1/session", type(None))


def change_account(body: models.AccountChange | Mapping[str, Any]) -> Call[models.Member]:
    """Change your name."""
    return Call("PATCH", "/v1/account", models.Member, body=body)


def change_password(body: models.PasswordChange | Mapping[str, Any]) -> Call[None]:
    """Change your password.

    All your other sessions end.
    """
    return Call("POST", "/v1/account/password", type(None), body=body)


def list_sessions() -> Call[models.OwnSessions]:
    """Where you are signed in.

    The last used first.
    """
    return Call("GET", "/v1/account/sessions", models.OwnSessions)


def end_session(session_id: UUID | str) -> Call[None]:
    """Sign out somewhere else.

    The session ends at once.
    """
    return Call("DELETE", path_of("/v1/account/sessions/{session_id}", session_id=session_id), type(None))


def offer_second_factor(body: models.PasswordAgain | Mapping[str, Any]) -> Call[models.OfferedSecondFactor]:
    """Begin with a second factor.

    Codes that change with the time (RFC 6238). Nothing is asked for until a code of the app confirms it.
    """
    return Call("POST", "/v1/account/totp", models.OfferedSecondFactor, body=body)


def remove_second_factor(body: models.PasswordAgain | Mapping[str, Any]) -> Call[None]:
    """Do without a second factor.

    Needs your password.
    """
    return Call("DELETE", "/v1/account/totp", type(None), body=body)


def confirm_second_factor(body: models.Confirmation | Mapping[str, Any]) -> Call[models.ShownRecoveryCodes]:
    """Confirm the second factor.

    From now on a code is asked for at every sign-in. The recovery codes are shown this once.
    """
    return Call("POST", "/v1/account/totp/confirm", models.ShownRecoveryCodes, body=body)


def renew_recovery_codes(body: models.PasswordAgain | Mapping[str, Any]) -> Call[models.ShownRecoveryCodes]:
    """New recovery codes.

    The old ones hold no more.
    """
    return Call("POST", "/v1/account/totp/recovery-codes", models.ShownRecoveryCodes, body=body)


def forget_password(body: models.Forgotten | Mapping[str, Any]) -> Call[None]:
    """Forget your password.

    Whoever has an account gets a link by mail that holds for an hour. The answer is the same for everybody.
    """
    return Call("POST", "/v1/password-resets", type(None), body=body)


def reset_password(body: models.Completion | Mapping[str, Any]) -> Call[None]:
    """Set a new password.

    The token can be used once. All your sessions end.
    """
    return Call("POST", "/v1/password-resets/complete", type(None), body=body)


def get_organization() -> Call[models.Organization]:
    """Your organization."""
    return Call("GET", "/v1/organization", models.Organization)


def change_organization(body: models.OrganizationChange | Mapping[str, Any]) -> Call[models.Organization]:
    """Change your organization.

    What is left out stays as it is.
    """
    return Call("PATCH", "/v1/organization", models.Organization, body=body)


def export_organization() -> Download:
    """Take everything along.

    A tar compressed with Zstandard: rows as lines of JSON, blocks of data sets, uploaded files, and `manifest.json` with counts and SHA-256. The same contents give the same bytes. Secrets and hashes of secrets are not in it; the audit log has an export of its own. The header `X-Content-SHA256` has the digest of the whole.
    """
    return Download("GET", "/v1/organization/export")


def erase_organization(
    body: models.Erasure | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Erased]:
    """Erase the organization.

    Runs are stopped, then every row, file, block and cached reply goes, and all keys with them. It cannot be undone. The receipt is kept in the log of the installation.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST", "/v1/organization/erase", models.Erased, body=body, takes_key=True, idempotency_key=idempotency_key
    )


def get_usage() -> Call[models.OrganizationUsage]:
    """What was used of what is allowed."""
    return Call("GET", "/v1/organization/usage", models.OrganizationUsage)


def list_members() -> Call[models.Members]:
    """Who belongs to the organization.

    By mail address.
    """
    return Call("GET", "/v1/members", models.Members)


def change_member(user_id: UUID | str, body: models.MemberChange | Mapping[str, Any]) -> Call[models.Member]:
    """Change what somebody may do.

    Nobody changes somebody who may do more than they, and there is always an owner left.
    """
    return Call("PATCH", path_of("/v1/members/{user_id}", user_id=user_id), models.Member, body=body)


def remove_member(user_id: UUID | str) -> Call[None]:
    """Let somebody go.

    Their sessions end, and their keys are revoked.
    """
    return Call("DELETE", path_of("/v1/members/{user_id}", user_id=user_id), type(None))


def invite(
    body: models.NewInvitation | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.CreatedInvitation]:
    """Ask somebody to join.

    They get a link by mail that holds for seven days. Where the server sends no mail, `token` and `link` are in this answer and nowhere else, for you to pass on. Who is asked again can accept the newest invitation alone.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST", "/v1/invitations", models.CreatedInvitation, body=body, takes_key=True, idempotency_key=idempotency_key
    )


def list_invitations() -> Call[models.Invitations]:
    """Who was asked to join.

    The newest first.
    """
    return Call("GET", "/v1/invitations", models.Invitations)


def revoke_invitation(invitation_id: UUID | str) -> Call[models.Invitation]:
    """Take an invitation back.

    It can no longer be accepted.
    """
    return Call("DELETE", path_of("/v1/invitations/{invitation_id}", invitation_id=invitation_id), models.Invitation)


def accept_invitation(body: models.Acceptance | Mapping[str, Any]) -> Call[models.Member]:
    """Accept an invitation.

    It can be accepted once.
    """
    return Call("POST", "/v1/invitations/accept", models.Member, body=body)


def create_api_key(
    body: models.NewApiKey | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.CreatedApiKey]:
    """Make a key.

    The key itself is in this answer and nowhere else: only its hash is kept. It may do what its role allows, less where `scopes` name some actions only, and never more than whoever made it. It belongs to them, and ends with them, unless it is one for a `service`.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST", "/v1/api-keys", models.CreatedApiKey, body=body, takes_key=True, idempotency_key=idempotency_key
    )


def list_api_keys() -> Call[models.ApiKeys]:
    """Keys of the organization.

    The newest first: one's own, and those of all with `members:write`.
    """
    return Call("GET", "/v1/api-keys", models.ApiKeys)


def renew_api_key(
    api_key_id: UUID | str, body: models.ApiKeyRenewal | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.CreatedApiKey]:
    """Renew a key.

    A new key that may do the same; the old one goes on for `grace_seconds`, so that whoever uses it has time to change.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/api-keys/{api_key_id}/renew", api_key_id=api_key_id),
        models.CreatedApiKey,
        body=body,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def revoke_api_key(api_key_id: UUID | str) -> Call[models.ApiKey]:
    """Revoke a key.

    It opens nothing from now on.
    """
    return Call("DELETE", path_of("/v1/api-keys/{api_key_id}", api_key_id=api_key_id), models.ApiKey)


def list_audit_entries(
    *,
    limit: int | None = None,
    cursor: int | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    actor: str | None = None,
    action: str | None = None,
    target: str | None = None,
) -> Call[models.AuditLog]:
    """Who did what.

    The newest first. Every request that changes something has two entries, one before it is carried out and one after; refused requests, exports and reads of secrets have theirs too.

    limit: How many to give.
    cursor: Those after this place: `next_cursor` of the page before.
    since: At this time or later.
    until: Before this time.
    actor: By this one, as entries name them.
    action: Of this operation.
    target: About this.
    """
    return Call(
        "GET",
        "/v1/audit-log",
        models.AuditLog,
        query={
            "limit": limit,
            "cursor": cursor,
            "since": since,
            "until": until,
            "actor": actor,
            "action": action,
            "target": target,
        },
    )


def export_audit_log() -> Download:
    """Take the audit log along.

    Lines of JSON: all entries in order, then the end of the chain. `fullbench audit verify --file` checks it without the server.
    """
    return Download("GET", "/v1/audit-log/export")


def verify_audit_log(*, expect: str | None = None) -> Call[models.AuditVerification]:
    """Verify the audit log.

    Reads all entries again and names those that were changed, removed, inserted or cut off. Keep `hash` elsewhere, and give it as `expect` later: then not even who runs the server can change what was before it unseen.

    expect: The hash of an entry that was there: it is told if no entry has it any more.
    """
    return Call("GET", "/v1/audit-log/verify", models.AuditVerification, query={"expect": expect})


def create_dataset(
    body: models.NewDataset | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Dataset]:
    """Make a data set.

    Its cases are uploaded as versions.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/datasets", models.Dataset, body=body, takes_key=True, idempotency_key=idempotency_key)


def list_datasets(
    *,
    limit: int | None = None,
    offset: int | None = None,
    name: str | None = None,
    type: models.DatasetKind | None = None,
) -> Call[models.Datasets]:
    """All data sets.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    name: With this name.
    type: For this purpose.
    """
    return Call(
        "GET", "/v1/datasets", models.Datasets, query={"limit": limit, "offset": offset, "name": name, "type": type}
    )


def get_dataset(dataset_id: UUID | str) -> Call[models.Dataset]:
    """A data set."""
    return Call("GET", path_of("/v1/datasets/{dataset_id}", dataset_id=dataset_id), models.Dataset)


def change_dataset(
    dataset_id: UUID | str, body: models.DatasetChange | Mapping[str, Any], *, if_match: str | None = None
) -> Call[models.Dataset]:
    """Change the name, description or tags.

    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "PATCH",
        path_of("/v1/datasets/{dataset_id}", dataset_id=dataset_id),
        models.Dataset,
        body=body,
        headers={"If-Match": if_match},
    )


def delete_dataset(dataset_id: UUID | str, *, if_match: str | None = None) -> Call[None]:
    """Remove a data set.

    Goes with its versions, cases and files, all runs on them, and their results. One with a published version, or with a run that goes on, is refused: deprecate the one, cancel the other first.

    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "DELETE",
        path_of("/v1/datasets/{dataset_id}", dataset_id=dataset_id),
        type(None),
        headers={"If-Match": if_match},
    )


def upload_dataset_version(
    dataset_id: UUID | str,
    file: Upload,
    *,
    description: str | None = None,
    format: models.UploadFormat | None = None,
    input: str | None = None,
    reference: Sequence[str] | None = None,
    id: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.UploadedVersion]:
    """Upload a version.

    The file is kept as it is, and its rows are looked at next: ask for the version until `validation_status` is VALID or INVALID, or wait for the event `dataset.validated`.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/datasets/{dataset_id}/versions", dataset_id=dataset_id),
        models.UploadedVersion,
        form=Form(
            file, {"description": description, "format": format, "input": input, "reference": reference, "id": id}
        ),
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def list_dataset_versions(
    dataset_id: UUID | str, *, limit: int | None = None, offset: int | None = None
) -> Call[models.DatasetVersions]:
    """Versions of a data set.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call(
        "GET",
        path_of("/v1/datasets/{dataset_id}/versions", dataset_id=dataset_id),
        models.DatasetVersions,
        query={"limit": limit, "offset": offset},
    )


def get_dataset_version(dataset_id: UUID | str, version_number: int) -> Call[models.DatasetVersion]:
    """A version of a data set.

    With its schema, or with what is wrong.
    """
    return Call(
        "GET",
        path_of(
            "/v1/datasets/{dataset_id}/versions/{version_number}", dataset_id=dataset_id, version_number=version_number
        ),
        models.DatasetVersion,
    )


def publish_dataset_version(
    dataset_id: UUID | str, version_number: int, *, idempotency_key: str | None = None, if_match: str | None = None
) -> Call[models.DatasetVersion]:
    """Publish a version.

    From now on nothing can change its rows. Only a draft whose rows are all cases can be published; agreed answers can still be added beside it.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "POST",
        path_of(
            "/v1/datasets/{dataset_id}/versions/{version_number}/publish",
            dataset_id=dataset_id,
            version_number=version_number,
        ),
        models.DatasetVersion,
        takes_key=True,
        idempotency_key=idempotency_key,
        headers={"If-Match": if_match},
    )


def deprecate_dataset_version(
    dataset_id: UUID | str, version_number: int, *, idempotency_key: str | None = None, if_match: str | None = None
) -> Call[models.DatasetVersion]:
    """Deprecate a published version.

    It stays for what was made with it.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "POST",
        path_of(
            "/v1/datasets/{dataset_id}/versions/{version_number}/deprecate",
            dataset_id=dataset_id,
            version_number=version_number,
        ),
        models.DatasetVersion,
        takes_key=True,
        idempotency_key=idempotency_key,
        headers={"If-Match": if_match},
    )


def list_test_cases(
    dataset_id: UUID | str,
    version_number: int,
    *,
    limit: int | None = None,
    offset: int | None = None,
    cursor: str | None = None,
    filter: str | None = None,
) -> Call[models.TestCases]:
    """Cases of a version.

        In the order of the file, once its rows are valid.

        limit: How many to give.
        offset: How many to leave out; not together with `cursor`.
        cursor: Go on after a page: its `next_cursor`.
        filter: Cases whose metadata fulfil this, as JSON: `{"category": "math", "level": {"$gte": 3}}`. There are `$eq`, `$ne`, `$gt`,
    `$gte`, `$lt`, `$lte`, `$in`, `$nin`, `$exists`, `$contains`, `$and`, `$or` and `$not`.
    """
    return Call(
        "GET",
        path_of(
            "/v1/datasets/{dataset_id}/versions/{version_number}/cases",
            dataset_id=dataset_id,
            version_number=version_number,
        ),
        models.TestCases,
        query={"limit": limit, "offset": offset, "cursor": cursor, "filter": filter},
    )


def get_test_case(dataset_id: UUID | str, version_number: int, case_id: UUID | str) -> Call[models.TestCase]:
    """A case."""
    return Call(
        "GET",
        path_of(
            "/v1/datasets/{dataset_id}/versions/{version_number}/cases/{case_id}",
            dataset_id=dataset_id,
            version_number=version_number,
            case_id=case_id,
        ),
        models.TestCase,
    )


def add_ground_truth(
    dataset_id: UUID | str,
    version_number: int,
    case_id: UUID | str,
    body: models.NewGroundTruth | Mapping[str, Any],
    *,
    idempotency_key: str | None = None,
) -> Call[models.GroundTruth]:
    """Add an agreed answer to a case.

    Evaluations from now on take it in place of the references of the file: `acceptable_answers`, or else `answer`. What was agreed on before stays in the history, and evaluations that used it stay as they are.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of(
            "/v1/datasets/{dataset_id}/versions/{version_number}/cases/{case_id}/ground-truth",
            dataset_id=dataset_id,
            version_number=version_number,
            case_id=case_id,
        ),
        models.GroundTruth,
        body=body,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def get_ground_truth(
    dataset_id: UUID | str,
    version_number: int,
    case_id: UUID | str,
    *,
    limit: int | None = None,
    offset: int | None = None,
) -> Call[models.GroundTruths]:
    """What was agreed on for a case.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call(
        "GET",
        path_of(
            "/v1/datasets/{dataset_id}/versions/{version_number}/cases/{case_id}/ground-truth",
            dataset_id=dataset_id,
            version_number=version_number,
            case_id=case_id,
        ),
        models.GroundTruths,
        query={"limit": limit, "offset": offset},
    )


def sample_test_cases(
    dataset_id: UUID | str,
    version_number: int,
    body: models.SampleRequest | Mapping[str, Any],
    *,
    idempotency_key: str | None = None,
) -> Call[models.CaseSample]:
    """Draw a sample of a version.

    Nothing is kept: the seed gives it again.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of(
            "/v1/datasets/{dataset_id}/versions/{version_number}/sample",
            dataset_id=dataset_id,
            version_number=version_number,
        ),
        models.CaseSample,
        body=body,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def download_dataset_version(
    dataset_id: UUID | str,
    version_number: int,
    *,
    format: models.DownloadFormat | None = None,
    ground_truth: bool | None = None,
) -> Download:
    """Download a version.

    Rows as they were uploaded, or with the answers that were agreed on. The original is there whatever its rows are; any other format once they are valid.

    ground_truth: Give the answers that were agreed on in place of the references, as evaluations use them.
    """
    return Download(
        "GET",
        path_of(
            "/v1/datasets/{dataset_id}/versions/{version_number}/download",
            dataset_id=dataset_id,
            version_number=version_number,
        ),
        query={"format": format, "ground_truth": ground_truth},
    )


def diff_dataset_versions(
    dataset_id: UUID | str, *, from_: int, to: int, limit: int | None = None, offset: int | None = None
) -> Call[models.DatasetVersionDiff]:
    """What differs between two versions.

    Cases belong together by their keys; where rows stand does not matter, nor the order of fields.

    from_: The number of the left version.
    to: The number of the right version.
    limit: How many cases of each list to give.
    offset: How many cases of each list to leave out.
    """
    return Call(
        "GET",
        path_of("/v1/datasets/{dataset_id}/diff", dataset_id=dataset_id),
        models.DatasetVersionDiff,
        query={"from": from_, "to": to, "limit": limit, "offset": offset},
    )


def create_evaluation(
    body: models.NewEvaluation | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Evaluation]:
    """Evaluate one answer.

    Scores are there at once, and kept; with `sync: false` the evaluation goes into the queue. When a judge takes longer than `timeout_ms`, the scores that are there are given with the status `partial`, and the rest is added later.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST", "/v1/evaluations", models.Evaluation, body=body, takes_key=True, idempotency_key=idempotency_key
    )


def list_evaluations(
    *,
    limit: int | None = None,
    offset: int | None = None,
    status: models.RunState | None = None,
    type: models.RunKind | None = None,
    dataset_version_id: UUID | str | None = None,
    experiment_id: UUID | str | None = None,
    created_after: datetime | str | None = None,
    created_before: datetime | str | None = None,
) -> Call[models.EvaluationRuns]:
    """Runs of every kind.

    The newest first.

    limit: How many runs to give.
    offset: How many runs to leave out.
    status: In this state.
    type: For this purpose.
    dataset_version_id: Of this version of a data set.
    experiment_id: Part of this experiment.
    created_after: Created after this time.
    created_before: Created before this time.
    """
    return Call(
        "GET",
        "/v1/evaluations",
        models.EvaluationRuns,
        query={
            "limit": limit,
            "offset": offset,
            "status": status,
            "type": type,
            "dataset_version_id": dataset_version_id,
            "experiment_id": experiment_id,
            "created_after": created_after,
            "created_before": created_before,
        },
    )


def get_evaluation(evaluation_id: UUID | str) -> Call[models.Evaluation]:
    """An evaluation of one answer."""
    return Call("GET", path_of("/v1/evaluations/{evaluation_id}", evaluation_id=evaluation_id), models.Evaluation)


def resume_evaluation(evaluation_id: UUID | str, *, idempotency_key: str | None = None) -> Call[models.Evaluation]:
    """Ask again for the scores that are missing.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/evaluations/{evaluation_id}/resume", evaluation_id=evaluation_id),
        models.Evaluation,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def create_batch_evaluation(
    body: models.NewBatch | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.StartedBatch]:
    """Evaluate a data set.

    Goes into the queue by its priority, and on after a restart of the server by itself.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST", "/v1/evaluations/batch", models.StartedBatch, body=body, takes_key=True, idempotency_key=idempotency_key
    )


def get_batch_evaluation(job_id: UUID | str) -> Call[models.BatchEvaluation]:
    """How far a batch is, and its numbers."""
    return Call("GET", path_of("/v1/evaluations/batch/{job_id}", job_id=job_id), models.BatchEvaluation)


def cancel_batch_evaluation(job_id: UUID | str, *, idempotency_key: str | None = None) -> Call[models.BatchEvaluation]:
    """Give a batch up.

    Calls in flight finish and are kept; a cancelled batch stays as it is.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/evaluations/batch/{job_id}/cancel", job_id=job_id),
        models.BatchEvaluation,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def resume_batch_evaluation(job_id: UUID | str, *, idempotency_key: str | None = None) -> Call[models.BatchEvaluation]:
    """Go on with a batch that is incomplete.

    Open units, units that failed and scores that are missing are asked for again.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/evaluations/batch/{job_id}/resume", job_id=job_id),
        models.BatchEvaluation,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def list_batch_results(
    job_id: UUID | str, *, limit: int | None = None, cursor: str | None = None
) -> Call[models.EvaluationResults]:
    """The results of a batch.

    In the order of cases; results that come later appear at their place.

    limit: How many results to give.
    cursor: The `next_cursor` of the page before.
    """
    return Call(
        "GET",
        path_of("/v1/evaluations/batch/{job_id}/results", job_id=job_id),
        models.EvaluationResults,
        query={"limit": limit, "cursor": cursor},
    )


def export_batch_results(job_id: UUID | str, *, format: models.ExportFormat | None = None) -> Download:
    """All results of a batch as a file."""
    return Download("GET", path_of("/v1/evaluations/batch/{job_id}/export", job_id=job_id), query={"format": format})


def compare_batch(
    job_id: UUID | str, *, with_: str | None = None, margin: float | None = None
) -> Call[models.Comparison]:
    """A batch against another run.

    Paired tests by case, with intervals and Holm's correction.

    with_: A baseline by its name, or the id of a run. Default: the run that the batch was started against.
    margin: A difference up to this size does not matter: equivalence within it is tested.
    """
    return Call(
        "GET",
        path_of("/v1/evaluations/batch/{job_id}/comparison", job_id=job_id),
        models.Comparison,
        query={"with": with_, "margin": margin},
    )


def judge_batch(job_id: UUID | str, *, wait_seconds: int | None = None) -> Call[models.BatchVerdict]:
    """Whether a batch passes, and why.

    For continuous integration: one request that waits for the end of the batch and says whether it passes.

    wait_seconds: Seconds to wait for the batch to end.
    """
    return Call(
        "GET",
        path_of("/v1/evaluations/batch/{job_id}/verdict", job_id=job_id),
        models.BatchVerdict,
        query={"wait_seconds": wait_seconds},
    )


def create_run(
    body: models.NewRun | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.EvaluationRun]:
    """Run an evaluation.

    `fullbench --server URL run` sends its evaluation files here. The run is a batch: its status, results and export are at `/v1/evaluations/batch/{job_id}`, with the `run_id` as `job_id`.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/runs", models.EvaluationRun, body=body, takes_key=True, idempotency_key=idempotency_key)


def get_run_report(run_id: UUID | str, *, by: str | None = None) -> Download:
    """A run in numbers.

    Every model and scorer with mean, interval, quantiles, counts and cost, and the gates: what `fullbench show -o json` prints. Read anew each time, so that it is also there while the run goes on.

    by: Also for each value of this field of the cases.
    """
    return Download("GET", path_of("/v1/runs/{run_id}/report", run_id=run_id), query={"by": by})


def list_baselines() -> Call[models.Baselines]:
    """All baselines."""
    return Call("GET", "/v1/baselines", models.Baselines)


def get_baseline(baseline_name: str) -> Call[models.Baseline]:
    """A baseline."""
    return Call("GET", path_of("/v1/baselines/{baseline_name}", baseline_name=baseline_name), models.Baseline)


def set_baseline(baseline_name: str, body: models.NewBaseline | Mapping[str, Any]) -> Call[models.Baseline]:
    """Let a name stand for a run.

    A batch that names the baseline is compared with the run that it stands for when the batch begins.
    """
    return Call(
        "PUT", path_of("/v1/baselines/{baseline_name}", baseline_name=baseline_name), models.Baseline, body=body
    )


def remove_baseline(baseline_name: str) -> Call[None]:
    """Forget a baseline.

    Its run stays.
    """
    return Call("DELETE", path_of("/v1/baselines/{baseline_name}", baseline_name=baseline_name), type(None))


def create_execution(
    body: models.NewExecution | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Execution]:
    """Have a model do a task.

    The most urgent is done first; nothing waits for longer than its priority allows: a minute for `high`, five for `normal`, thirty for `low`.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/executions", models.Execution, body=body, takes_key=True, idempotency_key=idempotency_key)


def list_executions(
    *, limit: int | None = None, offset: int | None = None, status: models.RunState | None = None
) -> Call[models.Executions]:
    """Executions.

    The newest first.

    limit: How many executions to give.
    offset: How many executions to leave out.
    status: In this state.
    """
    return Call("GET", "/v1/executions", models.Executions, query={"limit": limit, "offset": offset, "status": status})


def get_execution(execution_id: UUID | str) -> Call[models.Execution]:
    """An execution."""
    return Call("GET", path_of("/v1/executions/{execution_id}", execution_id=execution_id), models.Execution)


def cancel_execution(execution_id: UUID | str) -> Call[None]:
    """Give an execution up.

    A call in flight ends, and is kept.
    """
    return Call("DELETE", path_of("/v1/executions/{execution_id}", execution_id=execution_id), type(None))


def score_execution(
    execution_id: UUID | str, body: models.NewScore | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.ExecutionScore]:
    """Score the answer of an execution.

    The model is not asked again. A metric that has scored the answer before is not asked again either; a score that is missing, because a judge failed or the budget was used up, is asked for when its metric is sent again.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/executions/{execution_id}/score", execution_id=execution_id),
        models.ExecutionScore,
        body=body,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def stream_events(*, last_event_id: str | None = None) -> Download:
    """What happens in the organization.

    A stream of server-sent events, from now on or after `Last-Event-ID`: progress and results as they arrive. Ids are the same in all streams of an organization, and survive a restart of the server.

    last_event_id: The id of the last event that was received: what came after it follows.
    """
    return Download("GET", "/v1/events", headers={"Last-Event-ID": last_event_id})


def stream_run_events(run_id: UUID | str, *, last_event_id: str | None = None) -> Download:
    """What happens in a run.

    A stream of server-sent events, from now on or after `Last-Event-ID`: progress and results as they arrive. Ids are the same in all streams of an organization, and survive a restart of the server.

    last_event_id: The id of the last event that was received: what came after it follows.
    """
    return Download("GET", path_of("/v1/runs/{run_id}/events", run_id=run_id), headers={"Last-Event-ID": last_event_id})


def create_webhook(
    body: models.NewWebhook | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Webhook]:
    """Be told of events.

    Each event is sent as a POST with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of the Standard Webhooks specification; `GET …/secret` has the secret to check it with. What is not answered with 2xx within 15 seconds is sent again with longer and longer waits, for about a day. An event may come twice, with the same `webhook-id`.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/webhooks", models.Webhook, body=body, takes_key=True, idempotency_key=idempotency_key)


def list_webhooks(*, limit: int | None = None, offset: int | None = None) -> Call[models.Webhooks]:
    """All webhooks.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call("GET", "/v1/webhooks", models.Webhooks, query={"limit": limit, "offset": offset})


def get_webhook(webhook_id: UUID | str) -> Call[models.Webhook]:
    """A webhook."""
    return Call("GET", path_of("/v1/webhooks/{webhook_id}", webhook_id=webhook_id), models.Webhook)


def change_webhook(
    webhook_id: UUID | str, body: models.WebhookChange | Mapping[str, Any], *, if_match: str | None = None
) -> Call[models.Webhook]:
    """Change a webhook.

    Events that are on their way go to the new address.

    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "PATCH",
        path_of("/v1/webhooks/{webhook_id}", webhook_id=webhook_id),
        models.Webhook,
        body=body,
        headers={"If-Match": if_match},
    )


def delete_webhook(webhook_id: UUID | str, *, if_match: str | None = None) -> Call[None]:
    """Remove a webhook.

    Events that are on their way to it are not sent.

    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "DELETE",
        path_of("/v1/webhooks/{webhook_id}", webhook_id=webhook_id),
        type(None),
        headers={"If-Match": if_match},
    )


def get_webhook_secret(webhook_id: UUID | str) -> Call[models.WebhookSecret]:
    """The secret of a webhook.

    Whoever has it can check what comes from here.
    """
    return Call("GET", path_of("/v1/webhooks/{webhook_id}/secret", webhook_id=webhook_id), models.WebhookSecret)


def rotate_webhook_secret(webhook_id: UUID | str, *, idempotency_key: str | None = None) -> Call[models.Webhook]:
    """Change the secret of a webhook.

    The secret before signs as well for another 24 hours: `webhook-signature` then has two signatures.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/webhooks/{webhook_id}/rotate-secret", webhook_id=webhook_id),
        models.Webhook,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def get_batch_webhook_secret() -> Call[models.WebhookSecret]:
    """The secret of `webhook_url`.

    What is sent to the `webhook_url` of a batch is signed with it.
    """
    return Call("GET", "/v1/organization/webhook-secret", models.WebhookSecret)


def test_webhook(webhook_id: UUID | str, *, idempotency_key: str | None = None) -> Call[models.Delivery]:
    """Try a webhook out.

    Sends it the event `webhook.test`. Once a minute at most.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/webhooks/{webhook_id}/test", webhook_id=webhook_id),
        models.Delivery,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def list_webhook_deliveries(
    *,
    limit: int | None = None,
    offset: int | None = None,
    webhook_id: UUID | str | None = None,
    run_id: UUID | str | None = None,
    status: models.DeliveryStatus | None = None,
) -> Call[models.Deliveries]:
    """What was sent.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    webhook_id: To this webhook.
    run_id: About this run.
    status: That have come this far.
    """
    return Call(
        "GET",
        "/v1/webhook-deliveries",
        models.Deliveries,
        query={"limit": limit, "offset": offset, "webhook_id": webhook_id, "run_id": run_id, "status": status},
    )


def get_webhook_delivery(delivery_id: UUID | str) -> Call[models.DeliveryLog]:
    """An event on its way, with every try."""
    return Call("GET", path_of("/v1/webhook-deliveries/{delivery_id}", delivery_id=delivery_id), models.DeliveryLog)


def retry_webhook_delivery(delivery_id: UUID | str, *, idempotency_key: str | None = None) -> Call[models.Delivery]:
    """Send an event again.

    It keeps its `webhook-id`, so that a receiver knows whether it has the event already.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/webhook-deliveries/{delivery_id}/retry", delivery_id=delivery_id),
        models.Delivery,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def create_alert(
    body: models.NewAlert | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Alert]:
    """Watch something.

    The rule is looked at every 30 seconds, unless the server is set up otherwise. It fires when the value is over the threshold, and is resolved when it is at or under it later. Without enough data it does neither.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/alerts", models.Alert, body=body, takes_key=True, idempotency_key=idempotency_key)


def list_alerts(*, limit: int | None = None, offset: int | None = None) -> Call[models.Alerts]:
    """All rules.

    The newest first, each with how it stands.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call("GET", "/v1/alerts", models.Alerts, query={"limit": limit, "offset": offset})


def get_alert(alert_id: UUID | str) -> Call[models.Alert]:
    """A rule, and how it stands."""
    return Call("GET", path_of("/v1/alerts/{alert_id}", alert_id=alert_id), models.Alert)


def change_alert(
    alert_id: UUID | str, body: models.AlertChange | Mapping[str, Any], *, if_match: str | None = None
) -> Call[models.Alert]:
    """Change a rule.

    What is not said stays, and what the rule watches cannot be changed. A rule that fires and is disabled is resolved, and told so; with another threshold, window or filter it is looked at anew at once.

    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "PATCH",
        path_of("/v1/alerts/{alert_id}", alert_id=alert_id),
        models.Alert,
        body=body,
        headers={"If-Match": if_match},
    )


def delete_alert(alert_id: UUID | str, *, if_match: str | None = None) -> Call[None]:
    """Remove a rule.

    Its log goes with it. One that fires ends: webhooks are sent `alert.resolved`, others are not told.

    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "DELETE", path_of("/v1/alerts/{alert_id}", alert_id=alert_id), type(None), headers={"If-Match": if_match}
    )


def test_alert(alert_id: UUID | str, *, idempotency_key: str | None = None) -> Call[models.AlertTest]:
    """Try the channels of a rule out.

    Sends a message that says it is a test to every channel of the rule, as it would be if it fired; webhooks are sent `alert.firing` with `news` being `test`. Once a minute at most.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/alerts/{alert_id}/test", alert_id=alert_id),
        models.AlertTest,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def list_alert_notifications(
    alert_id: UUID | str, *, limit: int | None = None, offset: int | None = None
) -> Call[models.AlertNotifications]:
    """What was told of a rule.

    The newest first. What is older than 90 days is removed when something new is told.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call(
        "GET",
        path_of("/v1/alerts/{alert_id}/notifications", alert_id=alert_id),
        models.AlertNotifications,
        query={"limit": limit, "offset": offset},
    )


def list_criteria(
    *, limit: int | None = None, offset: int | None = None, source: models.CriterionSource | None = None
) -> Call[models.Criteria]:
    """All criteria.

    By name, each in its newest revision.

    limit: How many to give.
    offset: How many to leave out.
    source: From here.
    """
    return Call("GET", "/v1/criteria", models.Criteria, query={"limit": limit, "offset": offset, "source": source})


def create_criterion(
    body: models.NewCriterion | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.CriterionRevision]:
    """Add a criterion.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST", "/v1/criteria", models.CriterionRevision, body=body, takes_key=True, idempotency_key=idempotency_key
    )


def get_criterion(criterion_name: str) -> Call[models.CriterionRevision]:
    """A criterion in its newest revision."""
    return Call(
        "GET", path_of("/v1/criteria/{criterion_name}", criterion_name=criterion_name), models.CriterionRevision
    )


def revise_criterion(
    criterion_name: str, body: models.NewCriterion | Mapping[str, Any], *, if_match: str | None = None
) -> Call[models.CriterionRevision]:
    """Make a new revision of a criterion.

    The earlier revisions stay, and judges that were made for one go on with it. What says the same makes no new revision. Built-in criteria are not changed.

    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "PUT",
        path_of("/v1/criteria/{criterion_name}", criterion_name=criterion_name),
        models.CriterionRevision,
        body=body,
        headers={"If-Match": if_match},
    )


def list_criterion_revisions(
    criterion_name: str, *, limit: int | None = None, offset: int | None = None
) -> Call[models.CriterionRevisions]:
    """All revisions of a criterion.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call(
        "GET",
        path_of("/v1/criteria/{criterion_name}/revisions", criterion_name=criterion_name),
        models.CriterionRevisions,
        query={"limit": limit, "offset": offset},
    )


def list_thresholds(
    criterion_name: str, *, limit: int | None = None, offset: int | None = None
) -> Call[models.Thresholds]:
    """All pass marks that a criterion had.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call(
        "GET",
        path_of("/v1/criteria/{criterion_name}/thresholds", criterion_name=criterion_name),
        models.Thresholds,
        query={"limit": limit, "offset": offset},
    )


def create_threshold(
    criterion_name: str, body: models.NewThreshold | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Threshold]:
    """Set the pass mark of a criterion.

    It holds for judgements from now on; those that were made keep the mark they were made by.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/criteria/{criterion_name}/thresholds", criterion_name=criterion_name),
        models.Threshold,
        body=body,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def list_methods(*, limit: int | None = None, offset: int | None = None) -> Call[models.Methods]:
    """All ways of judging.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call("GET", "/v1/methods", models.Methods, query={"limit": limit, "offset": offset})


def list_models(*, limit: int | None = None, offset: int | None = None) -> Call[models.StoredModels]:
    """All models that judge.

    By provider and name.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call("GET", "/v1/models", models.StoredModels, query={"limit": limit, "offset": offset})


def create_model(
    body: models.ModelConfig | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.StoredModel]:
    """Add a model.

    It keeps its configuration for good: judges that ask it stay what they are. Give another configuration of the same model a `name` of its own.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/models", models.StoredModel, body=body, takes_key=True, idempotency_key=idempotency_key)


def get_model(model_id: UUID | str) -> Call[models.StoredModel]:
    """A model."""
    return Call("GET", path_of("/v1/models/{model_id}", model_id=model_id), models.StoredModel)


def list_judges(*, limit: int | None = None, offset: int | None = None) -> Call[models.Judges]:
    """All judges.

    By name, the newest of each.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call("GET", "/v1/judges", models.Judges, query={"limit": limit, "offset": offset})


def create_judge(
    body: models.NewJudge | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Judge]:
    """Make a judge.

    With `successor_of` it takes the place of the newest judge of its name; where nothing differs, that one is given as it is. The criterion is the newest revision of its name.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/judges", models.Judge, body=body, takes_key=True, idempotency_key=idempotency_key)


def get_judge(judge_id: UUID | str) -> Call[models.Judge]:
    """A judge.

    Whether or not it has a successor.
    """
    return Call("GET", path_of("/v1/judges/{judge_id}", judge_id=judge_id), models.Judge)


def get_judge_performance(judge_id: UUID | str) -> Call[models.JudgePerformance]:
    """What the judgements of a judge show.

    Over all its judgements, in runs and by themselves.
    """
    return Call("GET", path_of("/v1/judges/{judge_id}/performance", judge_id=judge_id), models.JudgePerformance)


def create_document(
    body: models.NewDocument | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Document]:
    """Keep a text to be judged.

    It is never changed, so that its judgements stay true; several judges can judge it.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/documents", models.Document, body=body, takes_key=True, idempotency_key=idempotency_key)


def list_documents(*, limit: int | None = None, offset: int | None = None) -> Call[models.Documents]:
    """All documents.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call("GET", "/v1/documents", models.Documents, query={"limit": limit, "offset": offset})


def get_document(document_id: UUID | str) -> Call[models.Document]:
    """A document."""
    return Call("GET", path_of("/v1/documents/{document_id}", document_id=document_id), models.Document)


def create_judgement(
    body: models.NewJudgement | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Judgement]:
    """Let a judge judge a document.

    The judge is asked at once, and its judgement kept. One that takes longer than half a minute is given as `running`, and finished later. One whose provider failed is `incomplete`: it can be resumed as the evaluation of the same id.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/judgements", models.Judgement, body=body, takes_key=True, idempotency_key=idempotency_key)


def list_judgements(
    *,
    limit: int | None = None,
    offset: int | None = None,
    judge_id: UUID | str | None = None,
    judge: str | None = None,
    document_id: UUID | str | None = None,
    status: models.RunState | None = None,
) -> Call[models.Judgements]:
    """Judgements of documents.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    judge_id: By this judge.
    judge: By the judge of this name or one of its predecessors.
    document_id: Of this document.
    status: In this state.
    """
    return Call(
        "GET",
        "/v1/judgements",
        models.Judgements,
        query={
            "limit": limit,
            "offset": offset,
            "judge_id": judge_id,
            "judge": judge,
            "document_id": document_id,
            "status": status,
        },
    )


def get_judgement(judgement_id: UUID | str) -> Call[models.Judgement]:
    """A judgement."""
    return Call("GET", path_of("/v1/judgements/{judgement_id}", judgement_id=judgement_id), models.Judgement)


def create_prompt(
    body: models.NewPrompt | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.Prompt]:
    """Make a prompt.

    Its texts are added as versions.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call("POST", "/v1/prompts", models.Prompt, body=body, takes_key=True, idempotency_key=idempotency_key)


def list_prompts(
    *, limit: int | None = None, offset: int | None = None, name: str | None = None
) -> Call[models.Prompts]:
    """All prompts.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    name: With this name.
    """
    return Call("GET", "/v1/prompts", models.Prompts, query={"limit": limit, "offset": offset, "name": name})


def get_prompt(prompt_id: UUID | str) -> Call[models.Prompt]:
    """A prompt."""
    return Call("GET", path_of("/v1/prompts/{prompt_id}", prompt_id=prompt_id), models.Prompt)


def change_prompt(
    prompt_id: UUID | str, body: models.PromptChange | Mapping[str, Any], *, if_match: str | None = None
) -> Call[models.Prompt]:
    """Change the name or the description.

    if_match: The `ETag` that was seen: a change meanwhile is refused with 412.
    """
    return Call(
        "PATCH",
        path_of("/v1/prompts/{prompt_id}", prompt_id=prompt_id),
        models.Prompt,
        body=body,
        headers={"If-Match": if_match},
    )


def create_prompt_version(
    prompt_id: UUID | str, body: models.NewPromptVersion | Mapping[str, Any], *, idempotency_key: str | None = None
) -> Call[models.PromptVersion]:
    """Add a version of a prompt.

    It gets the next number, and never changes.

    idempotency_key: A word of your own for this request: sent again, it is carried out once.
    """
    return Call(
        "POST",
        path_of("/v1/prompts/{prompt_id}/versions", prompt_id=prompt_id),
        models.PromptVersion,
        body=body,
        takes_key=True,
        idempotency_key=idempotency_key,
    )


def list_prompt_versions(
    prompt_id: UUID | str, *, limit: int | None = None, offset: int | None = None
) -> Call[models.PromptVersions]:
    """All versions of a prompt.

    The newest first.

    limit: How many to give.
    offset: How many to leave out.
    """
    return Call(
        "GET",
        path_of("/v1/prompts/{prompt_id}/versions", prompt_id=prompt_id),
        models.PromptVersions,
        query={"limit": limit, "offset": offset},
    )


def get_prompt_version(prompt_id: UUID | str, version_number: int) -> Call[models.PromptVersion]:
    """A version of a prompt."""
    return Call(
        "GET",
        path_of(
            "/v1/prompts/{prompt_id}/versions/{version_number}", prompt_id=prompt_id, version_number=version_number
        ),
        models.PromptVersion,
    )


def set_provider_key(provider: str, body: models.NewProviderKey | Mapping[str, Any]) -> Call[models.ProviderKey]:
    """Keep a key of a provider.

    What the organization asks this provider for is asked with it from now on, in place of the server's own key. It is kept sealed and never shown again. A key that was there for the same address is replaced.
    """
    return Call("PUT", path_of("/v1/provider-keys/{provider}", provider=provider), models.ProviderKey, body=body)


def remove_provider_key(provider: str, *, base_url: str | None = None) -> Call[None]:
    """Remove a key of a provider.

    Calls are made with the server's own key again, if it has one.

    base_url: The address that the key is for, where that is not the provider's own.
    """
    return Call(
        "DELETE", path_of("/v1/provider-keys/{provider}", provider=provider), type(None), query={"base_url": base_url}
    )


def list_provider_keys() -> Call[models.ProviderKeys]:
    """All keys of providers.

    Without the keys themselves.
    """
    return Call("GET", "/v1/provider-keys", models.ProviderKeys)
