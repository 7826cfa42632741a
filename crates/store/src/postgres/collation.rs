//! Texts are ordered by their bytes, as on SQLite, whatever language the database was made for.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr};

use super::names;

/// Columns whose texts are ordered otherwise; a partition follows its table.
const ORDERED_OTHERWISE: &str = "SELECT format('ALTER TABLE %I ALTER COLUMN %I TYPE %s COLLATE \"C\"', \
     c.relname, a.attname, format_type(a.atttypid, a.atttypmod)) FROM pg_attribute a \
     JOIN pg_class c ON c.oid = a.attrelid JOIN pg_collation o ON o.oid = a.attcollation \
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') \
     AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped AND o.collname <> 'C'";

/// Makes all columns order by bytes.
pub(super) async fn ensure(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    for change in names(transaction, ORDERED_OTHERWISE).await? {
        transaction.execute_unprepared(&change).await?;
    }
    Ok(())
}
