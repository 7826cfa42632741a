//! Removes blobs that nobody names any more. Organizations share them: the same content has the same name.

use std::collections::BTreeSet;

use fullbench_types::{ContentHash, OrganizationId};
use sea_orm::{ConnectionTrait, Statement, Value};

use crate::connection::ScopedConnection;
use crate::{DatasetVersion, ObjectStore, StoreError};

/// Blobs that are removed before it is looked whether somebody names them again: so many are in memory.
const TOGETHER: usize = 64;

/// The blobs that manifests name; those that cannot be read name none.
pub(super) fn blobs_of(manifests: &[String]) -> BTreeSet<ContentHash> {
    let read = |manifest: &String| serde_json::from_str::<DatasetVersion>(manifest).ok();
    let versions = manifests.iter().filter_map(read);
    versions.flat_map(|version| version.blocks).map(|block| block.hash).collect()
}

/// Removes blobs that no organization names, or none but this one; says how many. One that somebody names while it is being
/// removed is put back, and who names it after that looks whether it is there.
pub(super) async fn remove_unused(
    system: &ScopedConnection,
    objects: &ObjectStore,
    blobs: BTreeSet<ContentHash>,
    except: Option<OrganizationId>,
) -> Result<u64, StoreError> {
    if blobs.is_empty() {
        return Ok(0);
    }
    let named = named(system, except).await?;
    let unused: Vec<ContentHash> = blobs.into_iter().filter(|blob| !named.contains(blob)).collect();
    let mut removed = 0;
    for some in unused.chunks(TOGETHER) {
        let mut contents = Vec::new();
        for blob in some {
            // What cannot be read need not be put back.
            contents.extend(objects.read(blob).ok().map(|content| (blob, content)));
            objects.remove(blob)?;
            removed += 1;
        }
        let named = self::named(system, except).await?;
        for (_, content) in contents.iter().filter(|(blob, _)| named.contains(blob)) {
            objects.restore(content)?;
            removed -= 1;
        }
    }
    Ok(removed)
}

/// All blobs that frozen data sets have.
async fn named(
    system: &ScopedConnection,
    except: Option<OrganizationId>,
) -> Result<BTreeSet<ContentHash>, StoreError> {
    let mut sql = "SELECT manifest FROM dataset_contents WHERE manifest LIKE $1".to_owned();
    // Those of single answers have none, and are many.
    let mut values: Vec<Value> = vec!["%\"blocks\":[{%".into()];
    if let Some(organization) = except {
        sql.push_str(" AND organization_id <> $2");
        values.push(organization.0.into());
    }
    let statement = Statement::from_sql_and_values(system.get_database_backend(), sql, values);
    let rows = system.query_all_raw(statement).await?;
    let manifests: Vec<String> =
        rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
    Ok(blobs_of(&manifests))
}
