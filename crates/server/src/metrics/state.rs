//! What is looked at when somebody asks: the queue, the database, alerts, the budgets, the process.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use fullbench_store::Month;

use super::STARTED;
use crate::app::App;

/// Organizations of which a budget was told: where there is none any more, that is told too.
static BUDGETS_TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Looks at everything that has a state.
pub(crate) async fn look(app: &App) {
    metrics_process::Collector::default().collect();
    if let Some(started) = STARTED.get() {
        metrics::gauge!("process_start_time_seconds").set(*started);
    }
    metrics::gauge!("fullbench_info", "version" => app.config().version.clone()).set(1.0);
    metrics::gauge!("fullbench_runs_active").set(app.queue().active() as f64);
    // Before the database is asked, which answers nobody where no connection is left.
    if let Some((open, idle)) = app.store().connections() {
        metrics::gauge!("fullbench_database_connections", "state" => "idle").set(idle as f64);
        let busy = open.saturating_sub(idle);
        metrics::gauge!("fullbench_database_connections", "state" => "busy").set(busy as f64);
    }
    let asked = Instant::now();
    let answer = app.store().ping().await;
    metrics::gauge!("fullbench_database_ping_seconds").set(asked.elapsed().as_secs_f64());
    metrics::gauge!("fullbench_database_up").set(if answer.is_ok() { 1.0 } else { 0.0 });
    // Every further question would wait as long, and who asks for measurements does not.
    if answer.is_err() {
        return;
    }
    for (priority, runs) in app.store().waiting_runs().await.unwrap_or_default() {
        metrics::gauge!("fullbench_queue_depth", "priority" => priority.as_str()).set(runs as f64);
    }
    for (kind, firing) in app.store().firing_alerts().await.unwrap_or_default() {
        metrics::gauge!("fullbench_alerts_firing", "kind" => kind.as_str()).set(firing as f64);
    }
    look_at_budgets(app).await;
}

/// What organizations spent of what they may spend. One without a limit, or that is erased, is no number: the last one would stay for ever.
async fn look_at_budgets(app: &App) {
    let Ok(organizations) = app.store().organizations().await else { return };
    let mut told = BTreeSet::new();
    for organization in organizations {
        let store = app.store().scoped(organization.id);
        let budget = store.monthly_limit(&organization).filter(|budget| budget.0 > 0);
        let Some(budget) = budget else { continue };
        let id = organization.id.0.to_string();
        if let Ok(spent) = store.spent_in(Month::now()).await {
            metrics::gauge!("fullbench_budget_used_ratio", "organization" => id.clone())
                .set(spent.dollars() / budget.dollars());
            let is_refusing = store.is_refusing(budget, spent);
            metrics::gauge!("fullbench_budget_refusing", "organization" => id.clone())
                .set(f64::from(is_refusing));
        }
        told.insert(id);
    }
    let mut before = BUDGETS_TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    for gone in before.difference(&told) {
        for name in ["fullbench_budget_used_ratio", "fullbench_budget_refusing"] {
            metrics::gauge!(name, "organization" => gone.clone()).set(f64::NAN);
        }
    }
    before.extend(told);
}
