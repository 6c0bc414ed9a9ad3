//! How the system of a run is turned to the stub: what is opened for it, what it is started with, and whether it came.

use std::time::Duration;

use floodrig_stub::Stub;

use super::telegram::Telegram;
use super::trouble::Trouble;
use super::under_test::UnderTest;
use super::{News, Rig};
use crate::system::Launch;

/// In a network of the run's own the stub is found by Telegram's own address too.
pub(super) fn open(rig: &Rig<'_>, telegram: &Telegram, tell: &mut dyn FnMut(News<'_>)) -> Result<(), Trouble> {
    let Some(stub) = telegram.stub().filter(|_| rig.redirect.is_isolated()) else { return Ok(()) };
    rig.redirect.open_door(stub).map_err(Trouble::unrecorded("open the stub's port 443"))?;
    tell(News::Fact(
        "isolated: api.telegram.org is the stub, and nothing outside of the run's own network can be reached, services \
         of this machine included",
    ));
    Ok(())
}

/// What is started, with nothing real in its environment.
pub(super) fn launch(rig: &Rig<'_>, telegram: &Telegram, tell: &mut dyn FnMut(News<'_>)) -> Result<Launch, Trouble> {
    let (scenario, heartbeat) = (&rig.order.scenario, rig.heartbeat.as_deref().ok());
    let launch = rig.ground.launch(scenario, telegram, heartbeat, &rig.redirect);
    let (launch, hidden) = launch.map_err(Trouble::unrecorded("write the certificates for the system"))?;
    if !hidden.is_empty() {
        let names = hidden.join(", ");
        tell(News::Fact(&format!("note: a bot's token in {names}: the system gets a made-up one in its place")));
    }
    Ok(launch)
}

/// How long the system may take to stop: one that calls the real Telegram may do so no longer.
pub(super) fn grace(rig: &Rig<'_>) -> Duration {
    if rig.lookout.seen().is_some() { Duration::ZERO } else { rig.order.scenario.system.stop_within }
}

/// Whether calls have come by the end of the pre-flight; if none has, why, which is told at once.
pub(super) fn standing(
    rig: &Rig<'_>,
    telegram: &Telegram,
    system: &UnderTest,
    tell: &mut dyn FnMut(News<'_>),
) -> String {
    if let Some(stub) = telegram.stub().filter(|stub| stub.attendance().calls == 0 && !system.is_gone()) {
        let says =
            "nothing has called Telegram yet, which is right where the system does so later or never; if it should";
        tell(News::Fact(&format!("note: {says}: {}", advice(rig, stub, system))));
    }
    observed(rig, telegram)
}

/// Whether calls have come, in a word and its reason.
pub(super) fn observed(rig: &Rig<'_>, telegram: &Telegram) -> String {
    match telegram.stub() {
        None => telegram.calls(),
        Some(_) if rig.order.places.attach.is_some() => {
            "inactive: the system was not started here, and was told where the stub is by who did".to_owned()
        }
        Some(stub) => rig.redirect.standing(stub.attendance().calls),
    }
}

/// Why no call has come, and what to do.
pub(super) fn advice(rig: &Rig<'_>, stub: &Stub, system: &UnderTest) -> String {
    match system {
        UnderTest::Started(system) => rig.redirect.advice(system.root(), &stub.url()),
        UnderTest::Attached(_) => format!("0 calls reached the stub: {}", rig.ground.advice(Some(&stub.url()))),
    }
}
