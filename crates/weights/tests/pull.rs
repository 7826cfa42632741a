//! Weights from a hub that drops connections, from a local copy, and from a hub that gives something else.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use fullbench_weights::{Model, ModelFile, Source, WeightsError, WeightsFolder, find};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

/// A hub that gives the same content for every file, at most `most` bytes at a time.
async fn hub(content: &'static [u8], most: usize, requests: Arc<AtomicUsize>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let requests = Arc::clone(&requests);
            let service = service_fn(move |request: Request<Incoming>| {
                requests.fetch_add(1, Ordering::SeqCst);
                async move { Ok::<_, Infallible>(reply(&request, content, most)) }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move { drop(connection.await) });
        }
    });
    format!("http://{address}")
}

fn reply(
    request: &Request<Incoming>,
    content: &'static [u8],
    most: usize,
) -> Response<Full<Bytes>> {
    if request.uri().path().contains("config.json") {
        let mut missing = Response::new(Full::new(Bytes::new()));
        *missing.status_mut() = StatusCode::NOT_FOUND;
        return missing;
    }
    let range = request.headers().get("range").map(|range| range.to_str().unwrap().to_owned());
    let start: usize = range.as_deref().map_or(0, |range| {
        range.trim_start_matches("bytes=").trim_end_matches('-').parse().unwrap()
    });
    let end = content.len().min(start + most);
    let mut reply = Response::new(Full::new(Bytes::from_static(&content[start..end])));
    if range.is_some() {
        *reply.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    reply
}

fn model() -> &'static Model {
    find("SmolLM2-135M-Instruct").unwrap()
}

/// The bytes that are in the folder of the model, finished or not.
fn kept(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder.join(model().name)).into_iter().flatten();
    entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[tokio::test]
async fn a_download_that_is_cut_off_goes_on_and_a_wrong_file_is_refused() {
    let content: &'static [u8] = vec![7_u8; usize::try_from(model().bytes()).unwrap()].leak();
    let requests = Arc::new(AtomicUsize::new(0));
    let url = hub(content, content.len() / 3 + 1, Arc::clone(&requests)).await;
    let room = tempfile::tempdir().unwrap();
    let folder = WeightsFolder::new(room.path().to_owned(), Some(url));
    let mut seen = Vec::new();
    let error = folder
        .pull(model(), Some(&Source::Hub), &mut |_, done| seen.push(done))
        .await
        .expect_err("these are not the weights");
    assert!(matches!(error, WeightsError::Checksum { .. }), "{error}");
    assert_eq!(requests.load(Ordering::SeqCst), 3, "each request brings the next third");
    assert!(seen.is_sorted(), "nothing is fetched twice");
    assert_eq!(seen.last(), Some(&model().bytes()));
    assert_eq!(kept(room.path()), 0, "a wrong file is not kept");
    assert!(folder.path(model()).is_none());
}

#[tokio::test]
async fn a_part_from_an_earlier_time_is_not_fetched_again() {
    let content: &'static [u8] = vec![7_u8; usize::try_from(model().bytes()).unwrap()].leak();
    let url = hub(content, content.len(), Arc::default()).await;
    let room = tempfile::tempdir().unwrap();
    let folder = WeightsFolder::new(room.path().to_owned(), Some(url));
    std::fs::create_dir(room.path().join(model().name)).unwrap();
    let part = room.path().join(model().name).join(format!("{}.part", model().files[0].path));
    std::fs::write(part, &content[..90_000_000]).unwrap();
    let mut first = None;
    let mut watch = |_: &ModelFile, done| {
        first.get_or_insert(done);
    };
    let pulled = folder.pull(model(), Some(&Source::Hub), &mut watch).await;
    pulled.expect_err("these are not the weights");
    assert!(first.unwrap() > 90_000_000);
}

#[tokio::test]
async fn a_missing_file_and_a_missing_hub_are_told() {
    let room = tempfile::tempdir().unwrap();
    let url = hub(b"x", 1, Arc::default()).await;
    let sentences = find("all-minilm-l6-v2").unwrap();
    for (url, words) in [(url, "HTTP 404"), ("http://127.0.0.1:1".to_owned(), "no connection")] {
        let folder = WeightsFolder::new(room.path().to_owned(), Some(url));
        let error = folder.pull(sentences, Some(&Source::Hub), &mut |_, _| {}).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_local_copy_is_checked_before_it_is_taken() {
    let room = tempfile::tempdir().unwrap();
    let folder = WeightsFolder::new(room.path().join("weights"), None);
    let wrong = room.path().join(model().files[0].path);
    std::fs::write(&wrong, "not weights").unwrap();
    let error =
        folder.pull(model(), Some(&Source::Local(wrong)), &mut |_, _| {}).await.unwrap_err();
    assert!(error.to_string().contains("is not the expected file"), "{error}");
    let missing = Source::Local(room.path().join("nowhere"));
    assert!(folder.pull(model(), Some(&missing), &mut |_, _| {}).await.is_err());
    assert!(folder.path(model()).is_none());
}
