//! An organization's own keys of providers: kept sealed, and given to nobody but the calls that need them.

use std::fmt;

use fullbench_llm::{Provider, ProviderKey, ProviderKeys, Secret};
use jiff::Timestamp;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, Select,
};
use zeroize::Zeroizing;

use super::time;
use crate::entity::platform::provider_key;
use crate::runs::now_milliseconds;
use crate::vault::Purpose;
use crate::{EntityKind, ScopedStore, StoreError};

/// Letters of a key that are shown, where it is long enough to stay secret without them.
const SHOWN: usize = 4;
const LONG_ENOUGH: usize = 16;
/// Milliseconds for which a use is not noted again.
const USE_NOTED_AFTER: i64 = 60_000;

/// A key to be kept.
pub struct NewProviderKey {
    /// Whose models it is for.
    pub provider: Provider,
    /// The one address that it is sent to; the provider's own unless given.
    pub base_url: Option<String>,
    /// The key itself.
    pub key: Zeroizing<String>,
    /// Who keeps it.
    pub created_by: Option<String>,
}

impl fmt::Debug for NewProviderKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NewProviderKey({})", self.provider)
    }
}

/// What is shown of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderKeyRecord {
    /// Whose models it is for.
    pub provider: Provider,
    /// The one address that it is sent to; the provider's own unless given.
    pub base_url: Option<String>,
    /// Its last letters; none of a short one.
    pub last_four: Option<String>,
    /// When it was kept.
    pub created_at: Timestamp,
    /// When a call was last made with it, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Who kept it.
    pub created_by: Option<String>,
}

impl ScopedStore {
    /// Keeps a key in place of the one before, if there is one for the same address.
    pub async fn keep_provider_key(
        &self,
        new: NewProviderKey,
    ) -> Result<ProviderKeyRecord, StoreError> {
        let (provider, base_url) = (new.provider, address(new.provider, new.base_url.as_deref()));
        let place = place(provider, &base_url);
        let sealed = self.seal(Purpose::Provider, new.key.as_bytes(), &place).await?;
        let letters: Vec<char> = new.key.chars().collect();
        let last_four = match letters.len() >= LONG_ENOUGH {
            true => letters[letters.len() - SHOWN..].iter().collect(),
            false => String::new(),
        };
        let row = provider_key::ActiveModel {
            organization_id: Set(self.organization.0),
            provider: Set(provider.as_str().to_owned()),
            base_url: Set(base_url.clone()),
            sealed: Set(sealed),
            last_four: Set(last_four),
            created_at: Set(now_milliseconds()),
            last_used_at: Set(None),
            created_by: Set(new.created_by),
        };
        let key = [
            provider_key::Column::OrganizationId,
            provider_key::Column::Provider,
            provider_key::Column::BaseUrl,
        ];
        let replaced = OnConflict::columns(key)
            .update_columns([
                provider_key::Column::Sealed,
                provider_key::Column::LastFour,
                provider_key::Column::CreatedAt,
                provider_key::Column::LastUsedAt,
                provider_key::Column::CreatedBy,
            ])
            .to_owned();
        let insert = provider_key::Entity::insert(row).on_conflict(replaced);
        let kept = self.provider_key_rows().filter(is_key(provider, &base_url));
        let transaction = self.begin_adding().await?;
        let is_new = kept.clone().one(&transaction).await?.is_none();
        insert.exec_without_returning(&transaction).await?;
        if is_new {
            self.check_count(EntityKind::ProviderKey, "provider_keys", &transaction).await?;
        }
        transaction.commit().await?;
        let kept = kept.one(&self.database).await?.ok_or_else(|| not_found(provider))?;
        record(kept)
    }

    /// What is shown of the key for one address of a provider, where there is one.
    pub async fn provider_key(
        &self,
        provider: Provider,
        base_url: Option<&str>,
    ) -> Result<Option<ProviderKeyRecord>, StoreError> {
        let kept = self.provider_key_rows().filter(is_key(provider, &address(provider, base_url)));
        kept.one(&self.database).await?.map(record).transpose()
    }

    /// What is shown of the keys, by provider and address.
    pub async fn provider_keys(&self) -> Result<Vec<ProviderKeyRecord>, StoreError> {
        let rows = self.provider_key_rows().all(&self.database).await?;
        rows.into_iter().map(record).collect()
    }

    /// Removes a key for good.
    pub async fn remove_provider_key(
        &self,
        provider: Provider,
        base_url: Option<&str>,
    ) -> Result<(), StoreError> {
        let removed = provider_key::Entity::delete_many()
            .filter(provider_key::Column::OrganizationId.eq(self.organization.0))
            .filter(is_key(provider, &address(provider, base_url)))
            .exec(&self.database)
            .await?;
        match removed.rows_affected {
            0 => Err(not_found(provider)),
            _ => Ok(()),
        }
    }

    /// The keys, for calls of the organization.
    pub async fn keys_for_calls(&self) -> Result<ProviderKeys, StoreError> {
        let mut keys = Vec::new();
        for row in self.provider_key_rows().all(&self.database).await? {
            let provider = provider(&row.provider)?;
            let place = place(provider, &row.base_url);
            let key = match self.open(Purpose::Provider, &row.sealed, &place).await {
                // It went with what sealed it, and is to be kept again by whoever has it.
                Err(StoreError::KeysDeleted) => continue,
                key => key?,
            };
            let key = std::str::from_utf8(&key)
                .map_err(|_| StoreError::Damaged("a provider's key is no text".to_owned()))?;
            let base_url = (!row.base_url.is_empty()).then_some(row.base_url);
            keys.push(ProviderKey { provider, base_url, key: Secret::new(key) });
        }
        Ok(ProviderKeys::new(keys))
    }

    /// Notes that calls are made with a key.
    pub async fn note_provider_key_use(&self, used: &ProviderKey) -> Result<(), StoreError> {
        let now = now_milliseconds();
        let is_old = Condition::any()
            .add(provider_key::Column::LastUsedAt.is_null())
            .add(provider_key::Column::LastUsedAt.lt(now - USE_NOTED_AFTER));
        provider_key::Entity::update_many()
            .col_expr(provider_key::Column::LastUsedAt, Expr::value(now))
            .filter(provider_key::Column::OrganizationId.eq(self.organization.0))
            .filter(is_key(used.provider, used.base_url.as_deref().unwrap_or_default()))
            .filter(is_old)
            .exec(&self.database)
            .await?;
        Ok(())
    }

    fn provider_key_rows(&self) -> Select<provider_key::Entity> {
        provider_key::Entity::find()
            .filter(provider_key::Column::OrganizationId.eq(self.organization.0))
            .order_by_asc(provider_key::Column::Provider)
            .order_by_asc(provider_key::Column::BaseUrl)
    }
}

/// An address as it is kept: empty where it is the provider's own.
fn address(provider: Provider, base_url: Option<&str>) -> String {
    let address = base_url.unwrap_or_default().trim_end_matches('/');
    if Some(address) == provider.default_base_url() { String::new() } else { address.to_owned() }
}

/// What a key is sealed for: moved to another address it does not open.
fn place(provider: Provider, base_url: &str) -> Vec<u8> {
    [provider.as_str().as_bytes(), b"\0", base_url.as_bytes()].concat()
}

fn is_key(provider: Provider, base_url: &str) -> Condition {
    Condition::all()
        .add(provider_key::Column::Provider.eq(provider.as_str()))
        .add(provider_key::Column::BaseUrl.eq(base_url))
}

fn not_found(provider: Provider) -> StoreError {
    StoreError::NameNotFound { kind: EntityKind::ProviderKey, name: provider.to_string() }
}

fn provider(word: &str) -> Result<Provider, StoreError> {
    word.parse().map_err(|_| StoreError::Damaged(format!("an unknown provider `{word}`")))
}

fn record(row: provider_key::Model) -> Result<ProviderKeyRecord, StoreError> {
    Ok(ProviderKeyRecord {
        provider: provider(&row.provider)?,
        base_url: (!row.base_url.is_empty()).then_some(row.base_url),
        last_four: (!row.last_four.is_empty()).then_some(row.last_four),
        created_at: time(row.created_at)?,
        last_used_at: row.last_used_at.map(time).transpose()?,
        created_by: row.created_by,
    })
}
