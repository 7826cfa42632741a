//! Settings that cannot be used are told without the secrets in them.

use crate::MARK;
use crate::support::{Folder, said};

#[test]
fn what_is_wrong_is_told_without_the_secret_in_it() {
    let folder = Folder::new();
    for (variable, wrong) in [
        ("FULLBENCH_SMTP_URL", format!("smpt://user:{MARK}@127.0.0.1")),
        ("FULLBENCH_SECRET_KEY", format!("{MARK}-is-no-key")),
        ("FULLBENCH_SECRET_KEY_OLD", format!("{MARK}-is-no-key")),
        ("FULLBENCH_DATABASE", format!("mysql://user:{MARK}@127.0.0.1/bench")),
        ("FULLBENCH_DATABASE", format!("postgres://user:{MARK}@127.0.0.1:1/bench")),
        ("FULLBENCH_OBJECTS", format!("s3://key:{MARK}@bucket/prefix")),
        ("FULLBENCH_OBJECTS", format!("key:{MARK}@bucket")),
        ("OTEL_EXPORTER_OTLP_HEADERS", MARK.to_owned()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("ftp://user:{MARK}@127.0.0.1")),
    ] {
        let mut command = folder.command(&["-vv", "serve", "--listen", "127.0.0.1:0"]);
        command
            .env("FULLBENCH_LOG", "debug")
            .env("FULLBENCH_MAIL_FROM", "bench@example.com")
            .env("FULLBENCH_SMTP_URL", "smtp://127.0.0.1")
            .env("FULLBENCH_PUBLIC_URL", "https://bench.example.com/")
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
            .env(variable, &wrong);
        let said = said(command.output().unwrap());
        assert!(matches!(said.code, Some(2 | 3)), "{wrong}: {:?} {}", said.code, said.stderr);
        assert!(!said.stderr.contains(MARK), "{variable}: {}", said.stderr);
    }
}
