//! The system under test: build, cores, spawn, ready, death, stop.
