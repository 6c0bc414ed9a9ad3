//! Signed initData of a player. Pure.
