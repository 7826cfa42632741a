//! Alerts: what is watched, how it stands, and who is told of it in which way.

use crate::words::words;

words! {
    /// What a rule watches.
    AlertKind {
        /// Units that failed, as a share of those that ended.
        ErrorRate = "error_rate",
        /// The 95th percentile of how long answers of providers took, in milliseconds.
        Latency = "latency",
        /// The longest wait for a run to be begun, in seconds.
        QueueTime = "queue_time",
        /// Calls that failed on the side of a provider, as a share of those made to it.
        ProviderErrors = "provider_errors",
        /// What was spent this month, as a share of the budget.
        Spend = "spend",
        /// By how much the mean of a scorer's values fell, where that is not chance.
        ScoreDrop = "score_drop",
    }
}

words! {
    /// How a rule stands.
    AlertState {
        /// The value is at or under the threshold.
        Ok = "ok",
        /// The value is over the threshold, or was when it was last known.
        Firing = "firing",
        /// There is too little to say.
        NoData = "no_data",
    }
}

words! {
    /// What people are told of a rule.
    AlertNews {
        /// It began to fire.
        Firing = "firing",
        /// It still fires.
        Repeated = "repeated",
        /// It does not fire any more.
        Resolved = "resolved",
        /// Its channels are tried out.
        Test = "test",
    }
}

words! {
    /// How people are told.
    AlertChannel {
        /// By the webhooks of the organization that take events of alerts.
        Webhooks = "webhooks",
        /// By mail.
        Email = "email",
        /// By a message to a channel of Slack.
        Slack = "slack",
    }
}

words! {
    /// How far a message has come.
    NotificationStatus {
        /// It is tried, or will be tried again.
        Pending = "pending",
        /// It was taken.
        Delivered = "delivered",
        /// It was tried as often as it is, or cannot be sent.
        Failed = "failed",
        /// It is an event now, which webhooks are sent like any other.
        HandedOver = "handed_over",
    }
}

impl AlertNews {
    /// Whether it says that something is wrong, rather than that it is over.
    #[must_use]
    pub fn is_bad(self) -> bool {
        self != Self::Resolved
    }
}
