//! What a new network needs to be of use: loopback that is up, and a hosts file in which Telegram is this machine.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use rustix::mount::mount_bind;
use tempfile::NamedTempFile;

use super::CannotIsolate;
use super::loopback;

const HOSTS: &str = "/etc/hosts";
/// Where the C library and Go look up who resolves names; not there with musl.
const ORDER: &str = "/etc/nsswitch.conf";

/// Makes this process's new network what it should be.
pub fn furnish() -> Result<(), CannotIsolate> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |cause| CannotIsolate::Furnishing { what, cause }
    };
    loopback::set_up().map_err(failed("bring up the loopback interface"))?;
    replace(Path::new(HOSTS), hosts).map_err(failed("put a private file in the place of /etc/hosts"))?;
    if Path::new(ORDER).exists() {
        replace(Path::new(ORDER), files_alone)
            .map_err(failed("put a private file in the place of /etc/nsswitch.conf"))?;
    }
    Ok(())
}

/// Puts a changed copy over a file, in this mount namespace alone. The copy has no name any more when this returns.
fn replace(path: &Path, changed: fn(&str) -> String) -> io::Result<()> {
    let mut copy = NamedTempFile::new()?;
    copy.write_all(changed(&fs::read_to_string(path)?).as_bytes())?;
    copy.flush()?;
    // A system may run as another user.
    fs::set_permissions(copy.path(), fs::metadata(path)?.permissions())?;
    Ok(mount_bind(copy.path(), path)?)
}

fn hosts(own: &str) -> String {
    format!("127.0.0.1 localhost api.telegram.org\n{own}")
}

/// Names come from the hosts file and from nobody else: a resolver outside could be asked through a socket in a folder.
fn files_alone(own: &str) -> String {
    let others = own.lines().filter(|line| !line.trim_start().starts_with("hosts:"));
    others.chain(["hosts: files"]).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telegram_is_this_machine_and_the_users_own_lines_stay() {
        assert_eq!(hosts("10.0.0.1 db\n"), "127.0.0.1 localhost api.telegram.org\n10.0.0.1 db\n");
    }

    #[test]
    fn names_come_from_files_alone_and_users_and_groups_from_where_they_came() {
        assert_eq!(files_alone("passwd: files\nhosts: mymachines resolve dns\n"), "passwd: files\nhosts: files\n");
    }
}
