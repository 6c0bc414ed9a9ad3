//! The scenario room as a whole: what parses, and into what.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

fn files() -> Vec<PathBuf> {
    let all = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = all.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

#[test]
fn every_scenario_of_the_folder_parses_in_each_of_its_variants() {
    let files = files();
    assert!(files.len() >= 4, "{files:?}");
    for path in files {
        let source = Source::read(&path).unwrap();
        assert!(source.text.starts_with("#:schema ./scenario.schema.json\n"), "{}", path.display());
        let scenarios =
            parse_each(&path, &source.text).unwrap_or_else(|found| panic!("{}: {found:#?}", path.display()));
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(scenarios.iter().all(|scenario| scenario.name == stem), "{stem} is named otherwise");
    }
}

#[test]
fn the_checked_in_schema_is_the_one_this_parser_reads() {
    let checked_in = fs::read_to_string(folder().join("scenario.schema.json")).unwrap();
    assert!(checked_in == schema(), "stale: run `floodrig schema > scenarios/scenario.schema.json`");
}
