//! The machine of a run, for the reader of an old report.

use floodrig_reports::recording::Machine;
use procfs::{CpuInfo, Current, Meminfo};

use super::netstat;

/// What the machine is. What it does not tell stays empty or zero, which no machine is.
pub fn machine() -> Machine {
    let cpus = CpuInfo::current().ok();
    let uname = rustix::system::uname();
    Machine {
        cpu: cpus.as_ref().and_then(|cpus| cpus.model_name(0)).unwrap_or_default().to_owned(),
        cpus: cpus.as_ref().map_or(0, |cpus| cpus.num_cores() as u32),
        memory_bytes: Meminfo::current().map_or(0, |memory| memory.mem_total),
        kernel: uname.release().to_string_lossy().into_owned(),
        os: std::fs::read_to_string("/etc/os-release").ok().and_then(|text| pretty_name(&text)).unwrap_or_default(),
        network: netstat::settings(),
    }
}

fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_named_as_it_names_itself() {
        let text = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(pretty_name(text).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(pretty_name("NAME=x\n"), None);
    }

    #[test]
    fn this_machine_has_cores_memory_and_a_kernel() {
        let machine = machine();
        assert!(machine.cpus >= 1 && machine.memory_bytes > 0 && !machine.kernel.is_empty());
    }
}
