//! Ranking models from duels.
