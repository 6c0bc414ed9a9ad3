//! The main path: stub up, system up, pre-flight, drive, drain, stop, seal the recording.
