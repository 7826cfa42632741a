//! Methods and models: what judges are made of. Both appear with the first judge that uses them; a model may be added before.

use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Select,
    sea_query::OnConflict,
};
use serde_json::Value;
use uuid::Uuid;

use super::time;
use crate::connection::ScopedTransaction;
use crate::entity::{judge_model, method};
use crate::limits::check_length;
use crate::runs::now_milliseconds;
use crate::{EntityKind, NewJudge, ScopedStore, StoreError};

/// A way of judging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodRecord {
    /// Its id.
    pub id: Uuid,
    /// Its name: `g_eval`, `rubric`, …
    pub name: String,
    /// When a judge first used it.
    pub created_at: Timestamp,
}

/// What is known of a model when it is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewModel {
    /// The id it gets.
    pub id: Uuid,
    /// Who serves it.
    pub provider: String,
    /// The provider's name for it, or one of its own: no other model of the provider has it.
    pub name: String,
    /// How it is reached.
    pub config: Value,
}

/// A model that judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRecord {
    /// Its id.
    pub id: Uuid,
    /// Who serves it.
    pub provider: String,
    /// The provider's name for it.
    pub name: String,
    /// How it is reached.
    pub config: Value,
    /// When it was added, or a judge first used it.
    pub created_at: Timestamp,
}

impl ScopedStore {
    /// All methods that judges use, by name.
    pub async fn methods(&self) -> Result<Vec<MethodRecord>, StoreError> {
        let rows = method::Entity::find()
            .filter(method::Column::OrganizationId.eq(self.organization.0))
            .order_by_asc(method::Column::Name)
            .all(&self.database)
            .await?;
        let record = |row: method::Model| {
            Ok(MethodRecord {
                id: row.id,
                created_at: time(row.created_at, &row.name)?,
                name: row.name,
            })
        };
        rows.into_iter().map(record).collect()
    }

    /// All models that judges ask, by provider and name.
    pub async fn models(&self) -> Result<Vec<ModelRecord>, StoreError> {
        let rows = self
            .model_rows()
            .order_by_asc(judge_model::Column::Provider)
            .order_by_asc(judge_model::Column::Name)
            .all(&self.database)
            .await?;
        rows.into_iter().map(record).collect()
    }

    /// The model that a judge asks.
    pub async fn model(&self, provider: &str, name: &str) -> Result<ModelRecord, StoreError> {
        let row = self
            .model_rows()
            .filter(judge_model::Column::Provider.eq(provider))
            .filter(judge_model::Column::Name.eq(name))
            .one(&self.database)
            .await?;
        record(row.ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::Model,
            name: format!("{provider}/{name}"),
        })?)
    }

    /// The model of this id.
    pub async fn model_of_id(&self, id: Uuid) -> Result<ModelRecord, StoreError> {
        let row = self.model_rows().filter(judge_model::Column::Id.eq(id));
        record(row.one(&self.database).await?.ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::Model,
            name: id.to_string(),
        })?)
    }

    /// Adds a model. The same id again gives what was added.
    pub async fn create_model(&self, new: NewModel) -> Result<ModelRecord, StoreError> {
        let made = self.model_rows().filter(judge_model::Column::Id.eq(new.id));
        if let Some(made) = made.one(&self.database).await? {
            return record(made);
        }
        let name = format!("{}/{}", new.provider, new.name);
        let row = judge_model::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            provider: Set(new.provider),
            name: Set(new.name),
            config: Set(new.config.to_string()),
            created_at: Set(now_milliseconds()),
        };
        let taken = || StoreError::NameTaken { kind: EntityKind::Model, name };
        let transaction = self.begin_adding().await?;
        let row = row.insert(&transaction).await.map_err(StoreError::when_taken(taken))?;
        self.check_model(&row.config, &transaction).await?;
        transaction.commit().await?;
        record(row)
    }

    async fn check_model(
        &self,
        config: &str,
        transaction: &ScopedTransaction,
    ) -> Result<(), StoreError> {
        check_length(EntityKind::Model, &[config])?;
        self.check_count(EntityKind::Model, "models", transaction).await
    }

    fn model_rows(&self) -> Select<judge_model::Entity> {
        judge_model::Entity::find()
            .filter(judge_model::Column::OrganizationId.eq(self.organization.0))
    }

    /// Adds the method and the model of a new judge where they are new. A model keeps the configuration it was first used
    /// with: another would change the judges that are there.
    pub(super) async fn keep_parts(
        &self,
        new: &NewJudge,
        transaction: &ScopedTransaction,
    ) -> Result<(), StoreError> {
        let now = now_milliseconds();
        let row = method::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(self.organization.0),
            name: Set(new.method.clone()),
            created_at: Set(now),
        };
        let same = OnConflict::columns([method::Column::OrganizationId, method::Column::Name])
            .do_nothing()
            .to_owned();
        method::Entity::insert(row).on_conflict(same).exec_without_returning(transaction).await?;
        let row = judge_model::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(self.organization.0),
            provider: Set(new.provider.clone()),
            name: Set(new.model.clone()),
            config: Set(new.model_config.to_string()),
            created_at: Set(now),
        };
        let key = [
            judge_model::Column::OrganizationId,
            judge_model::Column::Provider,
            judge_model::Column::Name,
        ];
        judge_model::Entity::insert(row)
            .on_conflict(OnConflict::columns(key).do_nothing().to_owned())
            .exec_without_returning(transaction)
            .await?;
        self.check_model(&new.model_config.to_string(), transaction).await?;
        let kept = self
            .model_rows()
            .filter(judge_model::Column::Provider.eq(&new.provider))
            .filter(judge_model::Column::Name.eq(&new.model))
            .one(transaction)
            .await?;
        match kept.map(record).transpose()? {
            Some(kept) if kept.config != new.model_config => Err(StoreError::Immutable {
                kind: EntityKind::Model,
                name: format!("{}/{}", new.provider, new.model),
                reason: "other judges ask it with another configuration",
            }),
            _ => Ok(()),
        }
    }
}

fn record(row: judge_model::Model) -> Result<ModelRecord, StoreError> {
    let config = serde_json::from_str(&row.config)
        .map_err(|error| StoreError::Damaged(format!("model `{}`: {error}", row.name)))?;
    Ok(ModelRecord {
        id: row.id,
        config,
        created_at: time(row.created_at, &row.name)?,
        provider: row.provider,
        name: row.name,
    })
}
