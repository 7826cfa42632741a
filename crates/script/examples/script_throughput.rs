//! Times calls of a small function on one thread, in a process of its own and on a thread: `script_throughput [CALLS]`.
//!
//! Calls per second and the times of single calls go to standard output as JSON.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::{Duration, Instant};

use fullbench_script::{Language, Limits, Script};
use serde_json::{Value, json};

const SOURCE: &str = "
type Case = { output: string; reference: string };
const words = (text: string): string[] => text.toLowerCase().split(/\\W+/u).filter(Boolean);
export default ({ output, reference }: Case) => {
  const wanted = new Set(words(reference));
  const found = words(output).filter((word) => wanted.has(word));
  return { score: found.length / wanted.size, reason: `${found.length} words`, evidence: found };
};";

fn main() -> Result<(), Box<dyn Error>> {
    // Asked to stay in one process, it runs scripts on threads.
    if std::env::args().nth(2).as_deref() != Some("threads") {
        fullbench_script::serve_if_asked();
    }
    let calls: usize = std::env::args().nth(1).map_or(Ok(5000), |calls| calls.parse())?;
    let started = Instant::now();
    let script = Script::new(SOURCE, "score.ts", Language::TypeScript, Limits::default())?;
    let prepared = started.elapsed();
    let case = json!({
        "input": "Where is the Eiffel Tower?",
        "output": "The Eiffel Tower is in Paris, on the bank of the Seine, and was finished in 1889.",
        "reference": "It stands in Paris, France.",
        "metadata": { "source": "atlas", "difficulty": 2 },
    });
    let mut times = Vec::with_capacity(calls);
    let started = Instant::now();
    for _ in 0..calls {
        let began = Instant::now();
        let result = script.call(&case).result?;
        times.push(began.elapsed());
        if result["score"] != json!(0.6) {
            return Err(format!("scored {result}").into());
        }
    }
    let took = started.elapsed();
    times.sort_unstable();
    let at = |share: f64| -> Value {
        let place = (calls as f64 * share) as usize;
        milliseconds(times.get(place).or(times.last()).copied().unwrap_or_default())
    };
    let report = json!({
        "calls": calls,
        "calls_per_second": (calls as f64 / took.as_secs_f64()).round(),
        "prepare_ms": milliseconds(prepared),
        "p50_ms": at(0.5),
        "p95_ms": at(0.95),
        "p99_ms": at(0.99),
        "max_ms": at(1.0),
    });
    println!("{report}");
    Ok(())
}

fn milliseconds(time: Duration) -> Value {
    json!((time.as_secs_f64() * 1e6).round() / 1e3)
}
