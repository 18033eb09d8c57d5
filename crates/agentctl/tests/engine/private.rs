//! A private engine of a test: cleaning up here can't reach anything on the machine's own engine.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use exec_testkit::Skip;
use exec_wire::procfs::mounts;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::ENGINE;
use crate::support::{Marker, OUTER_LIMIT, Place, Run, eventually};

/// An engine, or for Podman, which has no daemon, the settings that confine its programs to one directory.
#[derive(Debug)]
pub(crate) struct Private {
    dir: TempDir,
    daemon: Option<Child>,
    variables: Vec<(&'static str, String)>,
    /// Everything that its program lists belongs to the test, and is removed with it.
    is_ours_alone: bool,
}

impl Private {
    /// Starts one, or skips the test if that is impossible.
    pub(crate) fn start() -> Result<Self> {
        // Short: a socket's path has about a hundred bytes.
        let dir = tempfile::Builder::new().prefix("eng.").tempdir_in("/tmp")?;
        let nowhere = format!("unix://{}/none.sock", dir.path().display());
        // The other engine is the machine's, and must not be touched.
        let variables = vec![(ENGINE.other_host, nowhere)];
        let mut engine = Self { dir, daemon: None, variables, is_ours_alone: false };
        match ENGINE.name {
            "docker" => engine.start_docker()?,
            _ => engine.settle_podman()?,
        }
        Ok(engine)
    }

    /// One that can pull from a loopback address. Docker allows plain HTTP only there, and a private engine
    /// has another loopback; so this is the machine's engine, and a test must touch only the image it pulled.
    pub(crate) fn pulling_from(address: &str) -> Result<Self> {
        if ENGINE.name == "docker" {
            let dir = tempfile::tempdir()?;
            return Ok(Self { dir, daemon: None, variables: Vec::new(), is_ours_alone: false });
        }
        let mut engine = Self::start()?;
        let text = format!("[[registry]]\nlocation = \"{address}\"\ninsecure = true\n");
        let file = engine.write("registries.conf", &text)?;
        engine.variables.push(("CONTAINERS_REGISTRIES_CONF", file));
        Ok(engine)
    }

    fn start_docker(&mut self) -> Result<()> {
        if !geteuid().is_root() {
            bail!(Skip("only root can start an engine".into()));
        }
        let Some(program) = dockerd() else { bail!(Skip("dockerd is not installed".into())) };
        let at = |name: &str| self.dir.path().join(name);
        let host = format!("unix://{}", at("e.sock").display());
        let settings = self.write("settings.json", "{}")?;
        let log = File::create(at("log"))?;
        // In its own network namespace: without a bridge it removes the bridge of the machine's own engine.
        let mut command = Command::new("unshare");
        command.args(["--net", "--"]).arg(program).args(["--config-file", &settings]);
        for (option, name) in [("--data-root", "data"), ("--exec-root", "exec"), ("--pidfile", "pid")] {
            command.arg(option).arg(at(name));
        }
        command.args(["--host", &host, "--bridge=none", "--iptables=false", "--storage-driver=vfs"]);
        self.daemon = Some(command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?);
        self.variables.push((ENGINE.host, host));
        let answers = eventually(OUTER_LIMIT, || self.tell(&["version"]).is_ok());
        ensure!(answers, "it does not answer: {}", fs::read_to_string(at("log"))?);
        Ok(())
    }

    /// Everything that Podman's programs store, and where.
    fn settle_podman(&mut self) -> Result<()> {
        // An ordinary user's Podman ignores the storage setting, and would write these settings into the
        // user's own storage.
        if !geteuid().is_root() {
            bail!(Skip("only root's Podman can store its files elsewhere".into()));
        }
        if UnixStream::connect("/run/podman/podman.sock").is_ok() {
            bail!(Skip("a service of the machine's answers, and would be asked".into()));
        }
        let at = |name: &str| self.dir.path().join(name).display().to_string();
        let storage = format!(
            "[storage]\ndriver = \"vfs\"\ngraphroot = \"{}\"\nrunroot = \"{}\"\n",
            at("data"),
            at("run")
        );
        let containers = format!(
            "[engine]\ntmp_dir = \"{}\"\nlock_type = \"file\"\n[network]\nnetwork_config_dir = \"{}\"\n",
            at("tmp"),
            at("networks")
        );
        let storage = self.write("storage.conf", &storage)?;
        let containers = self.write("containers.conf", &containers)?;
        self.variables.extend([("CONTAINERS_STORAGE_CONF", storage), ("CONTAINERS_CONF", containers)]);
        // Only private storage may be cleaned up.
        let store = self.tell(&["info", "--format", "{{.Store.GraphRoot}}"])?;
        ensure!(Path::new(&store).starts_with(self.dir.path()), "its storage is {store}");
        self.is_ours_alone = true;
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<String> {
        let path = self.dir.path().join(name);
        fs::write(&path, text)?;
        Ok(path.display().to_string())
    }

    /// The engine's own program, which is not under test.
    pub(crate) fn tell(&self, args: &[&str]) -> Result<String> {
        let variables = self.variables.iter().map(|(name, value)| (name, value));
        let output = Command::new(ENGINE.name).args(args).envs(variables).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{} {args:?}: {said}", ENGINE.name);
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// `agentctl`, without access to any other engine.
    pub(crate) fn agentctl(&self, place: &Place, args: &[&str]) -> Command {
        let mut command = place.agentctl(args);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// A program of this user, without access to any other engine.
    pub(crate) fn program(&self, place: &Place, program: &str) -> Command {
        let mut command = Command::new(program);
        place.at_home(&mut command).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// A run that keeps running.
    pub(crate) fn begun(&self, place: &Place, marker: &Marker) -> Run {
        let script = format!("echo up; exec sleep {marker}");
        let args = ["run", "--quiet", "--sandbox", ENGINE.name, "--", "sh", "-c", &script];
        let mut run = Run::spawn(&mut self.agentctl(place, &args));
        run.expect_line("up");
        run
    }
}

impl Drop for Private {
    /// However the test ended.
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            if let Some(pid) = Pid::from_raw(daemon.id() as i32) {
                let _ = kill_process(pid, Signal::TERM);
            }
            if !eventually(OUTER_LIMIT, || daemon.try_wait().is_ok_and(|status| status.is_some())) {
                let _ = daemon.kill();
                let _ = daemon.wait();
            }
        } else if self.is_ours_alone {
            let _ = self.tell(&["rm", "--all", "--force", "--time", "0"]);
            // A service that agentctl started ends a moment after it, and writes until then.
            eventually(OUTER_LIMIT, || !is_at_work(self.dir.path()));
        }
        let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let points = mounts(&table).map(|mount| PathBuf::from(OsStr::from_bytes(&mount.point)));
        for point in points.filter(|point| point.starts_with(self.dir.path())) {
            let _ = Command::new("umount").arg("-l").arg(point).stderr(Stdio::null()).status();
        }
    }
}

/// Whether a process was started with this directory in its environment.
fn is_at_work(directory: &Path) -> bool {
    let directory = directory.display().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut environments = processes.filter_map(|process| fs::read(process.path().join("environ")).ok());
    environments.any(|variables| String::from_utf8_lossy(&variables).contains(&directory))
}

fn dockerd() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    places.map(|place| place.join("dockerd")).find(|program| program.is_file())
}

/// The SHA-256 of a file, as engines write it.
pub(crate) fn digest(path: &Path) -> Result<String> {
    let output = Command::new("sha256sum").arg(path).output()?;
    let text = String::from_utf8(output.stdout)?;
    let number = text.split_whitespace().next().context("sha256sum said nothing")?;
    Ok(format!("sha256:{number}"))
}
