//! What each measurement means.

/// Says what each measurement means.
pub(super) fn describe() {
    for (name, about) in [
        ("fullbench_http_requests_total", "Requests that were answered"),
        ("fullbench_provider_calls_total", "Calls of providers, by how they ended"),
        (
            "fullbench_cost_nanodollars_total",
            "What calls of providers cost, in billionths of a dollar",
        ),
        ("fullbench_tokens_total", "Tokens that providers read and wrote"),
        ("fullbench_scores_total", "Scores, by outcome"),
        ("fullbench_runs_ended_total", "Runs that ended, by state"),
        (
            "fullbench_alert_evaluations_total",
            "Times that a rule was looked at, by what came of it",
        ),
        ("fullbench_alert_notifications_total", "Messages of alerts, by channel and status"),
        (
            "fullbench_audit_seal_broken_total",
            "Times that the end of an audit log was not as the server had left it",
        ),
        ("fullbench_webhook_tries_total", "Tries to send an event to a webhook, by result"),
    ] {
        metrics::describe_counter!(name, about);
    }
    for (name, about) in [
        ("fullbench_http_request_seconds", "Time from a request to its answer"),
        ("fullbench_provider_call_seconds", "Time of a call of a provider"),
        (
            "fullbench_queue_wait_seconds",
            "Time from when a run was asked for until it was first begun",
        ),
        ("fullbench_score", "Scores, from 0 to 1"),
    ] {
        metrics::describe_histogram!(name, about);
    }
    for (name, about) in [
        (
            "fullbench_queue_depth",
            "Runs that wait in the database, by priority: the same on every server",
        ),
        ("fullbench_runs_active", "Runs that are being worked on"),
        ("fullbench_database_ping_seconds", "Time of the shortest question to the database"),
        ("fullbench_database_up", "1 if the database answers"),
        ("fullbench_database_connections", "Connections to the database, by state"),
        (
            "fullbench_budget_used_ratio",
            "What an organization spent of what it may spend this month",
        ),
        (
            "fullbench_budget_refusing",
            "1 once a call found no room in what an organization may spend this month",
        ),
        ("fullbench_alerts_firing", "Rules that fire, by what they watch"),
        ("fullbench_info", "The version of the server"),
    ] {
        metrics::describe_gauge!(name, about);
    }
}
