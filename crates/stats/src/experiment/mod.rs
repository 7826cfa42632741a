//! Experiments: A/B tests, sequential looks, allocation.
