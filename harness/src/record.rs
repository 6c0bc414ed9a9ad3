//! Facts -> run.jsonl.
