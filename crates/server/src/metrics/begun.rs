//! Counters that are there from the start, with the labels that are known.

use fullbench_types::{AlertChannel, RunState};

/// Lets what is counted begin at 0: of a series that begins with its first event, nobody sees an increase.
pub(super) fn begin() {
    for channel in [AlertChannel::Email, AlertChannel::Slack] {
        for status in ["delivered", "retried", "failed"] {
            metrics::counter!("fullbench_alert_notifications_total",
                "channel" => channel.as_str(), "status" => status)
            .increment(0);
        }
    }
    for result in ["measured", "no_data", "failed"] {
        metrics::counter!("fullbench_alert_evaluations_total", "result" => result).increment(0);
    }
    metrics::counter!("fullbench_audit_seal_broken_total").increment(0);
    for result in ["taken", "failed"] {
        metrics::counter!("fullbench_webhook_tries_total", "result" => result).increment(0);
    }
    for state in [RunState::Completed, RunState::Incomplete, RunState::Cancelled, RunState::Failed]
    {
        metrics::counter!("fullbench_runs_ended_total", "state" => state.as_str()).increment(0);
    }
}
