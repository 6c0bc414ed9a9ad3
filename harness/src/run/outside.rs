//! What the rig itself asks of the system while it watches from outside, and what it asks for nothing, with the reason.

use crate::scenario::{Outside, Ready, System};

/// A bot that only asks for its updates is not probed.
pub(super) fn listens(ready: &Ready) -> Result<(), String> {
    match ready {
        Ready::Accepts | Ready::Path(_) | Ready::Command(_) => Ok(()),
        Ready::Bot => Err("the system is ready once its bot asks for updates, and need not listen anywhere".to_owned()),
    }
}

/// What the probe asks for.
pub(super) fn asked(system: &System) -> Result<String, String> {
    wanted(system.outside)?;
    if !system.speech.is_plain() {
        return Err("the probe speaks plain HTTP/1.1, and the system does not".to_owned());
    }
    Ok(match &system.ready {
        Ready::Path(path) => path.clone(),
        Ready::Accepts | Ready::Command(_) | Ready::Bot => "/".to_owned(),
    })
}

/// Many servers log a handshake of TLS that never came: each would be among the system's error lines.
pub(super) fn bears_silence(system: &System) -> Result<(), String> {
    wanted(system.outside)?;
    if system.speech.is_secure() && system.outside != Outside::Often {
        return Err("the system speaks TLS, and servers log a connection that closes before it is agreed on; \
                    outside = \"often\" makes them all the same"
            .to_owned());
    }
    Ok(())
}

fn wanted(outside: Outside) -> Result<(), String> {
    match outside {
        Outside::On | Outside::Often => Ok(()),
        Outside::Off => Err("the scenario says outside = \"off\"".to_owned()),
    }
}
