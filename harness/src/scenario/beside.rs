//! A file that a scenario names: text that lies beside it, such as recorded arrivals or a list of words.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use super::complaint::Complaint;
use super::spot::Spot;

/// A million lines of sixty bytes.
const LONGEST: u64 = 64 << 20;

/// Reads the file of this name, seen from the scenario's own folder, or says at its spot why it cannot.
pub(super) fn read(scenario: &Path, name: &str, spot: &Spot<'_>) -> Result<String, Complaint> {
    let path = scenario.with_file_name(name);
    let mut bytes = Vec::new();
    let shown = path.display();
    // A pipe would be waited at for ever, since nobody is there to write into it.
    if fs::metadata(&path).is_ok_and(|file| !file.is_file()) {
        return Err(spot.complain(format!("`{name}` is no ordinary file"), format!("name a file of lines: {shown}")));
    }
    let opened = fs::File::open(&path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
    if let Err(cause) = opened {
        let help = match cause.kind() {
            io::ErrorKind::NotFound => format!("put it there, or name it from the scenario's folder: {shown}"),
            _ => format!("{shown}: {cause}"),
        };
        return Err(spot.complain(format!("the file `{name}` cannot be read"), help));
    }
    if bytes.len() as u64 > LONGEST {
        return Err(spot.complain(format!("`{name}` is longer than 64 MiB"), "shorten it"));
    }
    let no_text = |_| spot.complain(format!("`{name}` holds bytes that are not UTF-8 text"), "save it as UTF-8");
    let text = String::from_utf8(bytes).map_err(no_text)?;
    // Spreadsheets save UTF-8 with a mark before the first line, which is no part of it.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// A complaint about one line of such a file, counted from 1.
pub(super) fn of_line(name: &str, line: usize, wrong: &str, help: &str, spot: &Spot<'_>) -> Complaint {
    spot.complain(format!("line {line} of `{name}`: {wrong}"), help)
}

#[cfg(test)]
mod tests {
    use toml::de::DeTable;

    use super::*;

    fn read_from(folder: &Path, name: &str) -> Result<String, String> {
        let table = DeTable::parse("file = 'x'").unwrap().into_inner();
        let spot = Spot::top(&table, "file");
        read(&folder.join("s.toml"), name, &spot).map_err(|complaint| complaint.says)
    }

    #[test]
    fn a_file_is_looked_for_beside_the_scenario() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), "é\n").unwrap();
        fs::write(folder.path().join("b.bin"), [0xff]).unwrap();
        assert_eq!(read_from(folder.path(), "a.txt").as_deref(), Ok("é\n"));
        assert_eq!(read_from(folder.path(), "c.txt").unwrap_err(), "the file `c.txt` cannot be read");
        assert!(read_from(folder.path(), "b.bin").unwrap_err().contains("not UTF-8"));
    }

    #[test]
    fn the_mark_that_spreadsheets_put_before_the_first_line_is_no_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.csv"), "\u{feff}1.5\n\u{feff}").unwrap();
        assert_eq!(read_from(folder.path(), "a.csv").as_deref(), Ok("1.5\n\u{feff}"));
    }

    #[test]
    fn what_is_no_ordinary_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for name in ["pipe", "."] {
            let says = read_from(folder.path(), name).unwrap_err();
            assert!(says.contains("no ordinary file"), "{name}: {says}");
        }
    }
}
