//! `floodrig calibrate`: what the rig can do on this machine, now.

use std::io::{self, Write as _};

use floodrig_reports::recording::Calibration;

use super::Exit;
use super::refused::Refused;
use crate::bench::{WHOLE, calibrate};
use crate::scenario::Cores;
use crate::stop::Stop;
use crate::system::cores::{self, CoreSets, beside_the_driver, pin_this_thread, ranges};
use crate::system::raise_open_files;

/// Measure the rig itself against a server that does nothing, in two seconds.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How many cores the system would get; the server that does nothing gets them instead
    #[arg(long, default_value_t = 1)]
    cores: u32,
}

pub(super) fn run(args: &Args) -> Exit {
    match measure(args) {
        Ok((cores, calibration)) => Exit::printed(show(&cores, &calibration)),
        Err(refused) => refused.tell(),
    }
}

fn measure(args: &Args) -> Result<(CoreSets, Calibration), Refused> {
    let stop = Stop::on_signals().map_err(Refused::could_not("listen for Ctrl-C"))?;
    raise_open_files().map_err(Refused::could_not("raise the limit on open files"))?;
    let machine = cores::machine().map_err(Refused::could_not("ask for the machine's cores"))?;
    let cores = cores::split(&Cores::Count(args.cores), &machine).map_err(Refused::said)?;
    pin_this_thread(beside_the_driver(&cores.rig)).map_err(Refused::could_not("pin the rig to its cores"))?;
    let calibration = calibrate(&cores, WHOLE, &stop).map_err(Refused::could_not("calibrate"))?;
    if stop.asked() {
        return Err(Refused::interrupted("interrupted: nothing was measured to its end"));
    }
    Ok((cores, calibration))
}

fn show(cores: &CoreSets, calibration: &Calibration) -> io::Result<()> {
    let (rig, server) = (ranges(&cores.rig), ranges(&cores.system));
    let mut out = io::stdout().lock();
    writeln!(out, "rig on core {rig}, server on core {server}")?;
    if let Some(note) = &cores.note {
        writeln!(out, "note: {note}")?;
    }
    writeln!(out, "{}", calibration.in_words())
}
