//! Other people's containers, volumes and networks, as much like ours as they can be. They stand on the engines while all
//! tests run, and must be as they were after them.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::cargo::{output, run};
use crate::steps::Outcome;
use crate::{engines, host};

const ENGINES: [&str; 2] = ["docker", "podman"];

const IMAGE: &str = "look-alike:1";

/// Seconds after which they go by themselves, should nobody be left to remove them: longer than all tests take.
const STAY: &str = "10800";

/// What sets a stranger apart from us, whatever its labels say: one of them is missing, or the name is not the one in them.
const LOOK_ALIKES: [(&str, &[&str]); 5] = [
    ("0-nothing-but-the-name", &[]),
    ("1-an-empty-owner", &["dev.agentctl.version=0.1.0", "dev.agentctl.owner="]),
    ("2-composed", &["com.docker.compose.project=agentctl", "com.docker.compose.service=agentctl"]),
    ("3-another-tools", &["org.testcontainers=true", "dev.agentctl.owners=x", "x.dev.agentctl.owner=x"]),
    (
        "4-labels-of-a-cell-on-something-else",
        &[
            "dev.agentctl.owner=dead",
            "dev.agentctl.owner.pid=4194304",
            "dev.agentctl.owner.start=1",
            "dev.agentctl.owner.boot=an-earlier-one",
            "dev.agentctl.owner.namespaces=x",
            "dev.agentctl.cell=agentctl-4194304-0",
        ],
    ),
];

/// The strangers on all engines that work here.
#[derive(Debug, Default)]
pub(crate) struct Strangers(Vec<Stranger>);

impl Strangers {
    /// Lets them in; an error where an engine is missing that must not be.
    pub(crate) fn enter(&mut self) -> Result<Outcome> {
        for engine in ENGINES {
            if engines::version(engine).is_some() {
                self.enter_on(engine).with_context(|| format!("on {engine}"))?;
            } else if host::required_backends().is_some_and(|list| list.split(',').any(|name| name == engine))
            {
                bail!("{engine} is required and does not work");
            }
        }
        Ok(if self.0.is_empty() { Outcome::Skipped("no engine works here".into()) } else { Outcome::Passed })
    }

    fn enter_on(&mut self, engine: &'static str) -> Result<()> {
        import(engine)?;
        let own = std::process::id();
        for (what, labels) in LOOK_ALIKES {
            let mut create = client(engine);
            let name = format!("agentctl-{own}-{what}");
            create.args(["run", "--detach", "--rm", "--network", "none", "--name", &name]);
            if engine == "podman" {
                // More than some hosts allow is what it asks for by itself.
                create.args(["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"]);
            }
            for label in labels {
                create.args(["--label", label]);
            }
            self.note(engine, "container", &output(create.args([IMAGE, "/bin/busybox", "sleep", STAY]))?)?;
        }
        for kind in ["volume", "network"] {
            let name = format!("agentctl-look-alike-{own}");
            let label = ["--label", "dev.agentctl.owners=x"];
            self.note(engine, kind, &output(client(engine).args([kind, "create"]).args(label).arg(name))?)?;
        }
        Ok(())
    }

    fn note(&mut self, engine: &'static str, kind: &'static str, id: &str) -> Result<()> {
        let id = id.trim().to_owned();
        // It is removed from here on, whatever else goes wrong.
        self.0.push(Stranger { engine, kind, id, seen: String::new() });
        if let Some(stranger) = self.0.last_mut() {
            stranger.seen = stranger.look()?;
        }
        Ok(())
    }

    /// An error that names those that are not as they were.
    pub(crate) fn are_untouched(&self) -> Result<Outcome> {
        let touched: Vec<String> = self.0.iter().filter_map(Stranger::touched).collect();
        if !touched.is_empty() {
            bail!("strangers were touched: {}", touched.join("; "));
        }
        println!("{} strangers are as they were", self.0.len());
        Ok(if self.0.is_empty() { Outcome::Skipped("there were none".into()) } else { Outcome::Passed })
    }
}

/// Something of somebody else's on an engine.
#[derive(Debug)]
struct Stranger {
    engine: &'static str,
    kind: &'static str,
    id: String,
    /// What the engine said of it at first.
    seen: String,
}

impl Stranger {
    /// What the engine says of it: enough to tell whether it was stopped, started again or replaced.
    fn look(&self) -> Result<String> {
        let told = match self.kind {
            "container" => "{{.Id}} {{.State.Status}} {{.State.Pid}} {{.State.StartedAt}}",
            "volume" => "{{.Name}} {{.CreatedAt}}",
            _ => "{{json .}}",
        };
        output(client(self.engine).args([self.kind, "inspect", "--format", told, &self.id]))
    }

    fn touched(&self) -> Option<String> {
        let Self { engine, kind, id, seen } = self;
        match self.look() {
            Ok(now) if now == *seen => None,
            Ok(now) => Some(format!("the {kind} {id} on {engine} was {}, is {}", seen.trim(), now.trim())),
            Err(error) => Some(format!("the {kind} {id} on {engine}: {error:#}")),
        }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut remove = client(self.engine);
        remove.args([self.kind, "rm"]);
        if self.kind == "container" {
            // Nothing in it listens to a polite signal.
            remove.args(["--force", "--volumes"]);
        }
        let _ = remove.arg(&self.id).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// The engine's own program, with a runtime that can work here.
fn client(engine: &str) -> Command {
    let mut client = Command::new(engine);
    // Control groups of both kinds, which the runtime that Podman prefers refuses.
    if engine == "podman" && Path::new("/sys/fs/cgroup/unified").exists() {
        client.args(["--runtime", "runc"]);
    }
    client
}

/// An image with one program in it.
fn import(engine: &str) -> Result<()> {
    let root = tempfile::tempdir()?;
    std::fs::create_dir(root.path().join("bin"))?;
    let busybox = host::system_program("busybox").context("there is no busybox; install busybox-static")?;
    std::fs::copy(busybox, root.path().join("bin/busybox"))?;
    let archive = root.path().join("image.tar");
    run(Command::new("tar").arg("-C").arg(root.path()).arg("-cf").arg(&archive).arg("bin"))?;
    run(client(engine).arg("import").arg(&archive).arg(IMAGE).stdout(Stdio::null()))
}
