//! A bucket that a test looks into past the store: `FULLBENCH_S3` names one (`scripts/object-store`). For whoever has
//! `object_store`, and so no part of the backends.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;

use futures::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use uuid::Uuid;

/// A place in a bucket that only one test has.
pub(crate) struct Bucket {
    pub(crate) url: String,
    objects: AmazonS3,
    folder: Path,
}

impl Bucket {
    /// A place with nothing in it; none without a bucket.
    pub(crate) fn open() -> Option<Self> {
        let bucket = std::env::var("FULLBENCH_S3").ok()?;
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = format!("{bucket}/{}", Uuid::now_v7());
        let (bucket, folder) = url.strip_prefix("s3://").unwrap().split_once('/').unwrap();
        let objects = AmazonS3Builder::from_env().with_bucket_name(bucket).with_allow_http(true);
        let (objects, folder) = (objects.build().unwrap(), Path::from(folder));
        Some(Self { url, objects, folder })
    }

    /// Everything that is kept there, by name.
    pub(crate) async fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let all: Vec<_> = self.objects.list(Some(&self.folder)).try_collect().await.unwrap();
        let mut contents = BTreeMap::new();
        for one in all {
            let content = self.objects.get(&one.location).await.unwrap().bytes().await.unwrap();
            contents.insert(one.location.to_string(), content.to_vec());
        }
        contents
    }
}
