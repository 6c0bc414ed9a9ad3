//! `floodrig`.
fn main() {}
