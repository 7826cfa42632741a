# Everything a developer does. `make demo` and `make test` need nothing but a Rust toolchain, a C++ compiler, Node and Python.

# What building llama.cpp needs is found or fetched first.
TOOLS = tools=$$(scripts/build-tools) && eval "$$tools" &&

.DEFAULT_GOAL := help
.PHONY: help build demo test check format reference soak bench clean

help: ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## Build the release binaries
	$(TOOLS) cargo build --release --locked -p fullbench-cli -p fullbench-simllm

demo: build ## Build, and run the quickstart with simulated models and a small real one
	@scripts/demo

test: ## Install what the tests need, and run them all
	@scripts/test

check: ## Formatting, lints, docs, generated reference pages, dependencies
	cargo fmt --all --check
	$(TOOLS) cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --workspace --exclude fullbench-local --no-default-features --locked -- -D warnings
	$(TOOLS) RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	$(TOOLS) cargo test --locked --workspace --test generated_pages
	scripts/check-dependencies

format: ## Format the code
	cargo fmt --all

reference: ## Write the generated reference pages, the schema and the generated half of the Python client
	$(TOOLS) cargo run -q -p fullbench-cli -- reference
	scripts/sdk-python generate

soak: build ## Long runs: many kills, many generated inputs and requests, many simulated studies
	$(TOOLS) FULLBENCH_SOAK=1 cargo test --locked --release -p fullbench-cli --test durability --test serve_durability -- --nocapture
	PROPTEST_CASES=20000 cargo test --locked --release -p fullbench-score -p fullbench-llm
	PROPTEST_CASES=20000 cargo test --locked --release -p fullbench-stats --test '*_properties'
	FULLBENCH_SIMULATIONS=20000 cargo test --locked --release -p fullbench-stats --test '*_coverage' -- --nocapture
	FULLBENCH_SOAK=1 FULLBENCH_BIN="$${CARGO_TARGET_DIR:-target}/release/fullbench" scripts/test-api

bench: build ## Measure speed and memory, side by side with peers; see bench/RESULTS.md
	$(TOOLS) cargo build --release --locked --workspace --examples
	bench/run

clean: ## Remove what was built
	cargo clean
