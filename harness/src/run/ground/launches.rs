//! What the system and its services are started with, the stub and its bot named in their environments.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::super::telegram::Telegram;
use super::Ground;
use crate::exchange::Speech;
use crate::keeper::Program;
use crate::redirect::{Redirect, hide_tokens};
use crate::scenario::{Scenario, Service, Template};
use crate::system::cores::{CoreSets, beside_the_driver};
use crate::system::{Launch, Limits, ServiceLaunch};
use crate::template::{Escape, Values, fill};
use crate::vitals::Folder;

/// The variables that held a real bot's token.
pub(in crate::run) type Hidden = Vec<String>;

impl Ground {
    /// What to start the system with.
    pub(in crate::run) fn launch(
        &self,
        scenario: &Scenario,
        telegram: &Telegram,
        heartbeat: Option<&Folder>,
        redirect: &Arc<Redirect>,
    ) -> io::Result<(Launch, Hidden)> {
        let system = &scenario.system;
        let stub_url = telegram.url().unwrap_or_default();
        let (mut env, hidden) = self.environment(scenario, &stub_url);
        redirect.put_into(&mut env, &stub_url)?;
        if let Some(folder) = heartbeat {
            folder.put_into(&mut env);
        }
        let folders = heartbeat.map(Folder::root).into_iter().chain([redirect.root()]);
        let launch = Launch {
            program: Program::default(),
            dir: system.dir.clone(),
            command: system.command.clone(),
            env,
            port: self.port,
            cores: self.cores.clone(),
            open_files: self.open_files,
            speech: system.speech.clone(),
            remove: folders.map(Path::to_owned).collect(),
            open_files_at_most: system.open_files,
            limits: Limits { memory: system.memory, cpu: system.cpu },
            scratch: None,
            ready: system.ready.clone(),
            stub: telegram.stub().cloned(),
            redirect: Some(Arc::clone(redirect)),
            ready_within: system.ready_within,
            stop_within: system.stop_within,
        };
        Ok((launch, hidden))
    }

    /// `PORT`, and all that names the stub and its bot; the scenario's own over them. No real token is left in it.
    fn environment(&self, scenario: &Scenario, stub_url: &str) -> (BTreeMap<String, String>, Hidden) {
        let mut env = BTreeMap::from([("PORT".to_owned(), self.port.to_string())]);
        env.extend(self.filled(&scenario.system.env, stub_url));
        Redirect::name_stub(&mut env, stub_url, self.bot_token);
        let hidden = hide_tokens(&mut env, self.bot_token);
        (env, hidden)
    }

    fn filled(&self, templates: &BTreeMap<String, Template>, stub_url: &str) -> BTreeMap<String, String> {
        let values = Values {
            system_port: Some(self.port),
            service_ports: Some(&self.service_ports),
            stub_url: Some(stub_url),
            bot_token: Some(self.bot_token),
            ..Values::default()
        };
        let fill = |template: &Template| {
            let mut value = String::new();
            let filled = fill(template, &values, Escape::None, &mut value);
            assert!(filled.is_ok(), "a checked scenario's environment has only placeholders that have a value there");
            value
        };
        templates.iter().map(|(name, template)| (name.clone(), fill(template))).collect()
    }

    /// What to start a service with: on the rig's cores, where the system's own figures are not touched by it.
    pub(in crate::run) fn service(&self, scenario: &Scenario, service: &Service, stub_url: &str) -> ServiceLaunch {
        let port = self.service_ports[&service.name];
        let mut env = BTreeMap::from([("PORT".to_owned(), port.to_string())]);
        env.extend(self.filled(&service.env, stub_url));
        hide_tokens(&mut env, self.bot_token);
        let launch = Launch {
            program: Program::default(),
            dir: scenario.system.dir.clone(),
            command: service.start.clone(),
            env,
            port,
            cores: CoreSets {
                system: beside_the_driver(&self.cores.rig).to_vec(),
                rig: self.cores.rig.clone(),
                note: None,
            },
            speech: Speech::default(),
            open_files: self.open_files,
            remove: Vec::new(),
            open_files_at_most: None,
            limits: Limits::default(),
            // The port tells it from the other services of this rig, and the process from other rigs.
            scratch: Some(std::env::temp_dir().join(format!("floodrig-{}-{port}", std::process::id()))),
            stub: None,
            redirect: None,
            ready: service.ready.clone(),
            ready_within: service.ready_within,
            stop_within: service.stop_within,
        };
        ServiceLaunch { name: service.name.clone(), launch, stop: service.stop.clone() }
    }
}
