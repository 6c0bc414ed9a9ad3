//! A file that a scenario names and that lies beside it: recorded arrivals, a list of words, a certificate.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use super::complaint::Complaint;
use super::spot::Spot;

/// A million lines of sixty bytes.
const LONGEST: u64 = 64 << 20;

/// Reads the text of the file of this name, seen from the scenario's own folder, or says at its spot why it cannot.
pub(super) fn read(scenario: &Path, name: &str, spot: &Spot<'_>) -> Result<String, Complaint> {
    let bytes = bytes(scenario, name, LONGEST, spot)?;
    let no_text = |_| spot.complain(format!("`{name}` holds bytes that are not UTF-8 text"), "save it as UTF-8");
    let text = String::from_utf8(bytes).map_err(no_text)?;
    // Spreadsheets save UTF-8 with a mark before the first line, which is no part of it.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads a file of this name and of `longest` bytes at most, or says at its spot why it cannot.
pub(super) fn bytes(scenario: &Path, name: &str, longest: u64, spot: &Spot<'_>) -> Result<Vec<u8>, Complaint> {
    let path = scenario.with_file_name(name);
    let no_file = |what| spot.complain(format!("`{name}` is {what}"), format!("name a file: {}", path.display()));
    match fs::metadata(&path) {
        Ok(found) if found.is_dir() => return Err(no_file("a folder")),
        // A pipe would be waited at for ever, since nobody is there to write into it.
        Ok(found) if !found.is_file() => return Err(no_file("no ordinary file")),
        Ok(_) | Err(_) => {}
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(&path).and_then(|file| file.take(longest + 1).read_to_end(&mut bytes));
    read.map_err(|cause| unreadable(name, &path, &cause, spot))?;
    if bytes.len() as u64 > longest {
        return Err(spot.complain(format!("`{name}` is longer than {} MiB", longest >> 20), "shorten it"));
    }
    Ok(bytes)
}

fn unreadable(name: &str, path: &Path, cause: &io::Error, spot: &Spot<'_>) -> Complaint {
    let path = path.display();
    match cause.kind() {
        io::ErrorKind::NotFound => {
            let help = format!("put it there, or name it from the scenario's folder: {path}");
            spot.complain(format!("there is no file `{name}`"), help)
        }
        io::ErrorKind::PermissionDenied => {
            let help = format!("let the user who runs the rig read it: {path}");
            spot.complain(format!("the file `{name}` may not be read"), help)
        }
        _ => spot.complain(format!("the file `{name}` cannot be read: {cause}"), format!("name another: {path}")),
    }
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
        assert_eq!(read_from(folder.path(), "c.txt").unwrap_err(), "there is no file `c.txt`");
        assert!(read_from(folder.path(), "b.bin").unwrap_err().contains("not UTF-8"));
    }

    #[test]
    fn the_mark_that_spreadsheets_put_before_the_first_line_is_no_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.csv"), "\u{feff}1.5\n\u{feff}").unwrap();
        assert_eq!(read_from(folder.path(), "a.csv").as_deref(), Ok("1.5\n\u{feff}"));
    }

    #[test]
    fn a_file_that_is_there_is_not_called_missing() {
        let (path, denied) = (Path::new("/a.txt"), io::ErrorKind::PermissionDenied.into());
        let said = unreadable("a.txt", path, &denied, &Spot::top(&DeTable::new(), "file"));
        assert_eq!(said.says, "the file `a.txt` may not be read");
        assert_eq!(said.help.as_deref(), Some("let the user who runs the rig read it: /a.txt"));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), "").unwrap();
        let below = read_from(folder.path(), "a.txt/b").unwrap_err();
        assert!(below.starts_with("the file `a.txt/b` cannot be read: "), "{below}");
    }

    #[test]
    fn what_is_no_ordinary_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert_eq!(read_from(folder.path(), "pipe").unwrap_err(), "`pipe` is no ordinary file");
        assert_eq!(read_from(folder.path(), ".").unwrap_err(), "`.` is a folder");
    }
}
