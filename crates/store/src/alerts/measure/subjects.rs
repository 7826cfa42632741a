//! Which units are those of a model or a provider: their names are in the spec of the run, which is read once for each model of
//! a run, not for each unit.

use sea_orm::{DbBackend, Value};

use super::AlertScope;
use crate::ScopedStore;

/// The condition that units were recorded in the scope, with its values: `$1` to `$3`.
pub(super) const IN_SCOPE: &str =
    "g.organization_id = $1 AND g.recorded_at > $2 AND g.recorded_at <= $3";

/// SQL for the provider and the name of a model, of `models m` (run, position) joined with `runs r`.
pub(super) struct ModelColumns {
    pub(super) provider: String,
    name: String,
}

impl ModelColumns {
    pub(super) fn new(backend: DbBackend) -> Self {
        let field = |name: &str| match backend {
            DbBackend::Sqlite => {
                format!("json_extract(r.spec, '$.models[' || m.model_index || '].{name}')")
            }
            _ => format!("(r.spec::json -> 'models' -> m.model_index ->> '{name}')"),
        };
        let (provider, name) = (field("provider"), field("name"));
        // As `ModelConfig::display_name` has it.
        let detail = format!(
            "CASE {provider} WHEN 'recorded' THEN {} ELSE {} END",
            field("field"),
            field("model")
        );
        let name = format!("COALESCE({name}, {provider} || ':' || ({detail}), {provider})");
        Self { provider, name }
    }
}

impl ScopedStore {
    /// The values of [`IN_SCOPE`].
    pub(super) fn scope_values(&self, scope: &AlertScope<'_>) -> Vec<Value> {
        vec![
            self.organization.0.into(),
            scope.after.as_millisecond().into(),
            scope.until.as_millisecond().into(),
        ]
    }

    /// A condition on `generations g` that its model is the one that is looked at; empty where all are. It reads the models of
    /// the scope once.
    pub(super) fn is_of_model(&self, scope: &AlertScope<'_>, values: &mut Vec<Value>) -> String {
        let conditions = self.model_conditions(scope, values);
        if conditions.is_empty() {
            return String::new();
        }
        format!(
            " AND (g.run_id, g.model_index) IN (SELECT m.run_id, m.model_index FROM \
             (SELECT DISTINCT g.run_id, g.model_index FROM generations g WHERE {IN_SCOPE}) m \
             JOIN runs r ON r.id = m.run_id AND r.organization_id = $1 WHERE {conditions})"
        )
    }

    /// The conditions on a model of `models m` joined with `runs r`.
    fn model_conditions(&self, scope: &AlertScope<'_>, values: &mut Vec<Value>) -> String {
        let columns = ModelColumns::new(self.backend());
        let mut conditions = Vec::new();
        for (column, wanted) in
            [(columns.provider, &scope.filter.provider), (columns.name, &scope.filter.model)]
        {
            if let Some(wanted) = wanted {
                values.push(wanted.as_str().into());
                conditions.push(format!("{column} = ${}", values.len()));
            }
        }
        conditions.join(" AND ")
    }

    pub(super) fn backend(&self) -> DbBackend {
        sea_orm::ConnectionTrait::get_database_backend(&self.database)
    }
}
