//! Unrelated containers, volumes and networks that resemble ours as closely as possible. They exist on the
//! engines while all tests run, and must be unchanged afterwards.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::cargo::{output, run};
use crate::steps::Outcome;
use crate::{engines, host};

const ENGINES: [&str; 2] = ["docker", "podman"];

const IMAGE: &str = "look-alike:1";

/// Seconds after which they end by themselves if this process dies: longer than all tests take.
const STAY: &str = "10800";

/// How a stranger differs from our containers, whatever its labels: one label is missing, or the name in the
/// labels is not its own.
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
    /// Creates them; an error if a required engine is missing.
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
                // Podman's default limits exceed what some hosts allow.
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
        // From here on it is removed, whatever else fails.
        self.0.push(Stranger { engine, kind, id, seen: String::new() });
        if let Some(stranger) = self.0.last_mut() {
            stranger.seen = stranger.look()?;
        }
        Ok(())
    }

    /// An error that names those that changed.
    pub(crate) fn are_untouched(&self) -> Result<Outcome> {
        let touched: Vec<String> = self.0.iter().filter_map(Stranger::touched).collect();
        if !touched.is_empty() {
            bail!("strangers were touched: {}", touched.join("; "));
        }
        println!("{} strangers are unchanged", self.0.len());
        Ok(if self.0.is_empty() { Outcome::Skipped("there were none".into()) } else { Outcome::Passed })
    }
}

/// An unrelated object on an engine.
#[derive(Debug)]
struct Stranger {
    engine: &'static str,
    kind: &'static str,
    id: String,
    /// The engine's first description of it.
    seen: String,
}

impl Stranger {
    /// The engine's description of it: enough to detect whether it was stopped, restarted or replaced.
    fn look(&self) -> Result<String> {
        let format = match self.kind {
            "container" => "{{.Id}} {{.State.Status}} {{.State.Pid}} {{.State.StartedAt}}",
            "volume" => "{{.Name}} {{.CreatedAt}}",
            _ => "{{json .}}",
        };
        output(client(self.engine).args([self.kind, "inspect", "--format", format, &self.id]))
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
            // Its processes ignore the polite signal.
            remove.args(["--force", "--volumes"]);
        }
        let _ = remove.arg(&self.id).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// The engine's own program, with a runtime that works here.
fn client(engine: &str) -> Command {
    let mut client = Command::new(engine);
    // Podman's preferred runtime refuses hosts with both versions of control groups.
    if engine == "podman" && Path::new("/sys/fs/cgroup/unified").exists() {
        client.args(["--runtime", "runc"]);
    }
    client
}

/// An image with a single program.
fn import(engine: &str) -> Result<()> {
    let root = tempfile::tempdir()?;
    std::fs::create_dir(root.path().join("bin"))?;
    let busybox = host::system_program("busybox").context("busybox is missing; install busybox-static")?;
    std::fs::copy(busybox, root.path().join("bin/busybox"))?;
    let archive = root.path().join("image.tar");
    run(Command::new("tar").arg("-C").arg(root.path()).arg("-cf").arg(&archive).arg("bin"))?;
    run(client(engine).arg("import").arg(&archive).arg(IMAGE).stdout(Stdio::null()))
}
