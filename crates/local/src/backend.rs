//! llama.cpp itself: started once in a process, its log sent to `tracing`.

use std::sync::OnceLock;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::{LogOptions, send_logs_to_tracing};

use crate::error::LocalError;

static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();

/// The running backend.
pub(crate) fn get() -> Result<&'static LlamaBackend, LocalError> {
    require_instructions()?;
    let backend = BACKEND.get_or_init(|| {
        send_logs_to_tracing(LogOptions::default());
        LlamaBackend::init().map_err(|error| error.to_string())
    });
    backend.as_ref().map_err(|message| LocalError::Backend(message.clone()))
}

/// llama.cpp is compiled for these instructions; without them the process would be killed at the first one.
#[cfg(target_arch = "x86_64")]
fn require_instructions() -> Result<(), LocalError> {
    let has_all = std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma")
        && std::arch::is_x86_feature_detected!("f16c")
        && std::arch::is_x86_feature_detected!("bmi2");
    if has_all { Ok(()) } else { Err(LocalError::Processor) }
}

#[cfg(not(target_arch = "x86_64"))]
fn require_instructions() -> Result<(), LocalError> {
    Ok(())
}
