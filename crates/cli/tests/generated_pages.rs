//! The pages, the schema and the client that are made from the code are as the code makes them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::{Folder, said};

#[test]
fn what_is_generated_is_up_to_date() {
    let mut command = Folder::new().command(&["reference", "--check"]);
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let checked = said(command.current_dir(repository).output().unwrap());
    assert_eq!(checked.code, Some(0), "run `make reference`: {}", checked.stderr);
}
