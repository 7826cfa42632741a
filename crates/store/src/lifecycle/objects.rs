//! Removes blobs that nobody names any more. Organizations share them: the same content has the same name.

use std::collections::BTreeSet;
use std::time::SystemTime;

use fullbench_types::{ContentHash, OrganizationId};
use futures::{TryStreamExt, stream};
use jiff::Timestamp;
use sea_orm::{ConnectionTrait, Statement, Value};
use uuid::Uuid;

use crate::connection::ScopedConnection;
use crate::dataset::blocks_in;
use crate::objects::{UNUSED, sealed_blob_key};
use crate::{ObjectStore, ScopedStore, Store, StoreError};

/// Blobs that are removed before it is looked whether somebody names them again: so many are in memory.
const TOGETHER: usize = 64;

/// Manifests that name blobs. What is sealed of one is never this part.
const WITH_BLOCKS: &str = "%\"blocks\":[{%";

/// The blobs that manifests name; those that cannot be read name none.
pub(crate) fn blobs_of(manifests: &[String]) -> BTreeSet<ContentHash> {
    manifests.iter().flat_map(|manifest| blocks_in(manifest).unwrap_or_default()).collect()
}

/// Removes blobs that no organization names, or none but this one; says how many. One that somebody names while it is being
/// removed is put back, and who names it after that looks whether it is there.
pub(crate) async fn remove_unused(
    system: &ScopedConnection,
    objects: &ObjectStore,
    blobs: BTreeSet<ContentHash>,
    except: Option<OrganizationId>,
) -> Result<u64, StoreError> {
    if blobs.is_empty() {
        return Ok(0);
    }
    let named = named(system, objects, &blobs, except).await?;
    let unused: Vec<ContentHash> = blobs.difference(&named).copied().collect();
    let mut removed = 0;
    for some in unused.chunks(TOGETHER) {
        let mut contents = Vec::new();
        for blob in some {
            // What cannot be read need not be put back.
            contents.extend(objects.read(blob).ok().map(|content| (blob, content)));
            removed += u64::from(objects.remove(blob)?);
        }
        let some = some.iter().copied().collect();
        let named = self::named(system, objects, &some, except).await?;
        for (_, content) in contents.iter().filter(|(blob, _)| named.contains(blob)) {
            objects.restore(content)?;
            removed -= 1;
        }
    }
    Ok(removed)
}

/// Removes sealed blobs of an organization that none of its own frozen data sets names; says how many. One that is named while
/// it is being removed is put back.
async fn remove_unused_sealed(
    scoped: &ScopedStore,
    blobs: &BTreeSet<ContentHash>,
) -> Result<u64, StoreError> {
    let objects = &scoped.objects;
    let mut removed = 0;
    if blobs.is_empty() {
        return Ok(removed);
    }
    for blob in blobs.difference(&scoped.named_blobs().await?) {
        let key = sealed_blob_key(scoped.organization, blob);
        let kept: Vec<_> = match objects.open_kept_file(&key).await {
            Ok((_, kept)) => kept.try_collect().await?,
            Err(StoreError::FileNotFound(_)) => continue,
            Err(error) => return Err(error),
        };
        objects.delete_file(&key).await?;
        match scoped.named_blobs().await?.contains(blob) {
            true => {
                let kept = stream::iter(kept.into_iter().map(Ok));
                objects.put_kept_file(&key, kept).await?;
            }
            false => removed += 1,
        }
    }
    Ok(removed)
}

impl Store {
    /// Removes from the folder of this machine what was never finished, copies that nobody has read for long, and files of locks
    /// that nobody has.
    pub fn tidy_folder(&self, now: Timestamp) -> Result<(), StoreError> {
        let now = SystemTime::from(now);
        self.objects().remove_unfinished(now)?;
        self.locks().remove_old(now - UNUSED)
    }

    /// Removes blobs that nobody names and that were last put more than a day ago, such as those of a process that was killed;
    /// says how many.
    pub(super) async fn sweep_objects(&self, now: Timestamp) -> Result<u64, StoreError> {
        let now = SystemTime::from(now);
        let objects = self.objects();
        let Some(since) = objects.owned_since(self.installation()).await? else {
            return Ok(0);
        };
        let time = since..now - UNUSED;
        let old = objects.blobs_of(&time).await?;
        let unnamed: BTreeSet<ContentHash> =
            old.difference(&all_named(self.system()).await?).copied().collect();
        let mut removed = remove_unused(self.system(), objects, unnamed, None).await?;
        for organization in self.organizations().await? {
            let scoped = self.scoped(organization.id);
            let old = objects.sealed_blobs_of(organization.id, &time).await?;
            removed += remove_unused_sealed(&scoped, &old).await?;
        }
        Ok(removed)
    }
}

/// All blobs that frozen data sets have.
async fn all_named(system: &ScopedConnection) -> Result<BTreeSet<ContentHash>, StoreError> {
    let sql = "SELECT manifest FROM dataset_contents WHERE manifest LIKE $1";
    let backend = system.get_database_backend();
    let statement = Statement::from_sql_and_values(backend, sql, [WITH_BLOCKS.into()]);
    let mut named = BTreeSet::new();
    for row in system.query_all_raw(statement).await? {
        // One that cannot be read may name any of them: nothing is removed then.
        let unreadable =
            || StoreError::Damaged("a frozen data set does not name its blocks".into());
        named.extend(blocks_in(&row.try_get_by_index::<String>(0)?).ok_or_else(unreadable)?);
    }
    Ok(named)
}

impl ScopedStore {
    /// Removes blocks of the organization that nobody names: of what was given up or removed. Says how many.
    pub async fn remove_unused_blocks(
        &self,
        blocks: impl IntoIterator<Item = ContentHash>,
    ) -> Result<u64, StoreError> {
        let blocks: BTreeSet<ContentHash> = blocks.into_iter().collect();
        let sealed = remove_unused_sealed(self, &blocks).await?;
        let system = self.database.system();
        Ok(sealed + remove_unused(&system, &self.objects, blocks, None).await?)
    }

    /// All blobs that frozen data sets of the organization have.
    async fn named_blobs(&self) -> Result<BTreeSet<ContentHash>, StoreError> {
        let sql =
            "SELECT manifest FROM dataset_contents WHERE organization_id = $1 AND manifest LIKE $2";
        let values = vec![self.organization.0.into(), WITH_BLOCKS.into()];
        let rows = self.database.query_all_raw(self.statement(sql, values)).await?;
        let manifests: Vec<String> =
            rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
        Ok(blobs_of(&manifests))
    }
}

/// Those of these blobs that frozen data sets have and that their organizations do not keep sealed, which need the one that all
/// share.
async fn named(
    system: &ScopedConnection,
    objects: &ObjectStore,
    of: &BTreeSet<ContentHash>,
    except: Option<OrganizationId>,
) -> Result<BTreeSet<ContentHash>, StoreError> {
    let mut sql =
        "SELECT organization_id, manifest FROM dataset_contents WHERE manifest LIKE $1".to_owned();
    // Those of single answers have none, and are many.
    let mut values: Vec<Value> = vec![WITH_BLOCKS.into()];
    if let Some(organization) = except {
        sql.push_str(" AND organization_id <> $2");
        values.push(organization.0.into());
    }
    let statement = Statement::from_sql_and_values(system.get_database_backend(), sql, values);
    let mut wanted = BTreeSet::new();
    for row in system.query_all_raw(statement).await? {
        let organization: Uuid = row.try_get_by_index(0)?;
        let blobs = blobs_of(&[row.try_get_by_index(1)?]);
        wanted.extend(blobs.intersection(of).map(|blob| (*blob, organization)));
    }
    let mut named = BTreeSet::new();
    for (blob, organization) in wanted {
        let key = sealed_blob_key(OrganizationId(organization), &blob);
        if !named.contains(&blob) && !objects.is_sealed_blob(&key).await? {
            named.insert(blob);
        }
    }
    Ok(named)
}
