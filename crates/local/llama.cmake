# Read by CMake when it configures llama.cpp; see `.cargo/config.toml`.
set(LLAMA_BUILD_COMMON OFF)
