//! Everything an organization owns in one file: what a backup has of it, without secrets. The same contents give the same bytes,
//! wherever and whenever they are written.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use fullbench_types::OrganizationId;
use sea_orm::{ConnectionTrait, Statement};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::manifest::{Manifest, TableHeader};
use super::new_file::NewFile;
use super::writer::{BackupWriter, NamedObjects, to_json};
use super::{BackupObjects, BackupTable, rows};
use crate::lifecycle::catalogue::{self, Owned, Taken};
use crate::objects::sha256_text;
use crate::schema::Table;
use crate::{Store, StoreError, migration};

/// The name of the first member.
const HEADER: &str = "export.json";
const FORMAT: &str = "fullbench-export";
const FORMAT_VERSION: u32 = 1;
/// Nothing in an export says when it was made.
const NO_TIME: u64 = 0;
/// Bytes that are digested at a time.
const PIECE_BYTES: usize = 1 << 20;

/// The beginning of an export.
#[derive(Serialize)]
struct Header {
    format: &'static str,
    format_version: u32,
    organization_id: OrganizationId,
    migrations: Vec<String>,
    tables: Vec<TableHeader>,
    /// Tables that are not in it, and why.
    left_out: Vec<LeftOut>,
}

#[derive(Serialize)]
struct LeftOut {
    table: String,
    because: &'static str,
}

/// The receipt of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportContents {
    /// Whose it is.
    pub organization_id: OrganizationId,
    /// Its tables.
    pub tables: Vec<BackupTable>,
    /// Blobs: blocks of data sets.
    pub blobs: BackupObjects,
    /// Uploaded files.
    pub files: BackupObjects,
    /// Objects that rows name and that were gone or damaged already.
    pub missing: Vec<String>,
    /// Texts that are gone with the keys that they were sealed with: they are null, or empty.
    pub deleted_texts: u64,
    /// The size of the file.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
}

impl Store {
    /// Writes everything that an organization owns into a file, as it is at one moment. The file is there when it is whole, and
    /// not before.
    pub async fn export_organization(
        &self,
        organization: OrganizationId,
        path: &Path,
        overwrite: bool,
    ) -> Result<ExportContents, StoreError> {
        let scoped = self.scoped(organization);
        scoped.organization_record().await?;
        let (mut tables, mut left_out) = (Vec::new(), Vec::new());
        for owned in catalogue::tables().await? {
            match owned.taken {
                Taken::Not(because) => {
                    left_out.push(LeftOut { table: owned.table.name, because });
                }
                Taken::Whole | Taken::Without(_) => tables.extend(taken(owned)),
            }
        }
        let header = Header {
            format: FORMAT,
            format_version: FORMAT_VERSION,
            organization_id: organization,
            migrations: migration::known(),
            tables: tables.iter().map(|(table, _)| TableHeader::of(table)).collect(),
            left_out,
        };
        let (new, file) = NewFile::create(path, overwrite)?;
        let objects = scoped.objects().await?;
        let opener = scoped.opener_of_stream().await?;
        let mut export = BackupWriter::new(file, new.path(), NO_TIME, &header.tables);
        export = export.opening(opener);
        export.member(HEADER.to_owned(), to_json(&header)?).await?;
        let snapshot = scoped.database.snapshot().await?;
        let backend = snapshot.get_database_backend();
        let mut named = NamedObjects::default();
        for (place, (table, owner)) in tables.iter().enumerate() {
            let sql = rows::select(table, backend, &format!("WHERE \"{owner}\" = $1"));
            let rows = Statement::from_sql_and_values(backend, sql, [organization.0.into()]);
            export.table(place, table, &snapshot, rows, &mut named).await?;
        }
        drop(snapshot);
        let manifest = export.finish(&objects, named).await?;
        new.keep()?;
        receipt(organization, manifest, path).await
    }
}

/// The table with the columns that are taken along, and the one that says whose a row is.
fn taken(owned: Owned) -> Option<(Table, &'static str)> {
    let owner = owned.owner()?;
    let Owned { mut table, taken, .. } = owned;
    if let Taken::Without(columns) = taken {
        table.columns.retain(|column| !columns.contains(&column.name.as_str()));
    }
    Some((table, owner))
}

async fn receipt(
    organization_id: OrganizationId,
    manifest: Manifest,
    path: &Path,
) -> Result<ExportContents, StoreError> {
    let file = path.to_owned();
    let digested = tokio::task::spawn_blocking(move || {
        let (mut digest, mut bytes) = (Sha256::new(), 0);
        let mut file = BufReader::with_capacity(PIECE_BYTES, File::open(file)?);
        loop {
            let piece = file.fill_buf()?;
            if piece.is_empty() {
                return Ok((bytes, sha256_text(digest)));
            }
            digest.update(piece);
            let read = piece.len();
            bytes += read as u64;
            file.consume(read);
        }
    });
    let failed = |source| StoreError::File { path: path.to_owned(), source };
    let (bytes, sha256) =
        digested.await.map_err(|error| failed(std::io::Error::other(error)))?.map_err(failed)?;
    let Manifest { tables, blobs, files, missing, deleted_texts } = manifest;
    Ok(ExportContents {
        organization_id,
        tables,
        blobs,
        files,
        missing,
        deleted_texts,
        bytes,
        sha256,
    })
}
