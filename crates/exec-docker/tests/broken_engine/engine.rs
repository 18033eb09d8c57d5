//! A private engine for a test, with its own socket, data and processes. The machine's engine is never
//! touched.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bollard::{API_DEFAULT_VERSION, Docker};
use exec_wire::procfs::mounts;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::processes;

/// How long an engine may take to answer, and to end. On a quiet machine it takes less than two seconds.
const PATIENCE: Duration = Duration::from_secs(60);

const POLL: Duration = Duration::from_millis(20);

/// Whether private engines can be started here.
pub(crate) fn available() -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root can start an engine".to_owned());
    }
    program().map(drop).ok_or_else(|| "dockerd is not installed".to_owned())
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    places.map(|place| place.join("dockerd")).find(|program| program.is_file())
}

/// An engine. Everything that it started is removed with it.
#[derive(Debug)]
pub(crate) struct PrivateEngine {
    dir: TempDir,
    child: Option<Child>,
}

impl PrivateEngine {
    /// Starts one and waits until it answers.
    pub(crate) async fn start() -> Result<Self> {
        let mut engine = Self::prepare()?;
        engine.restart().await?;
        Ok(engine)
    }

    /// Starts one whose disk has room for this many bytes.
    pub(crate) async fn start_with_room_for(bytes: u64) -> Result<Self> {
        let mut engine = Self::prepare()?;
        let options = format!("size={bytes}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(engine.data())
            .status()?;
        ensure!(mounted.success(), "mount ended with {mounted}");
        engine.restart().await?;
        Ok(engine)
    }

    fn prepare() -> Result<Self> {
        // Short: a socket's path has about a hundred bytes.
        let dir = tempfile::Builder::new().prefix("eng.").tempdir_in("/tmp")?;
        // Ignores the machine's own settings.
        std::fs::write(dir.path().join("settings.json"), "{}")?;
        let engine = Self { dir, child: None };
        std::fs::create_dir(engine.data())?;
        Ok(engine)
    }

    /// The directory with all its files.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Starts it again with its previous data.
    pub(crate) async fn restart(&mut self) -> Result<()> {
        ensure!(self.child.is_none(), "it runs already");
        let at = |name: &str| self.dir.path().join(name);
        let log = File::options().append(true).create(true).open(at("log"))?;
        // In its own network namespace: without a bridge it removes the bridge of the machine's own engine.
        let mut command = Command::new("unshare");
        command
            .args(["--net", "--"])
            .arg(program().context("no dockerd")?)
            .arg("--config-file")
            .arg(at("settings.json"))
            .arg("--data-root")
            .arg(at("data"))
            .arg("--exec-root")
            .arg(at("exec"))
            .arg("--pidfile")
            .arg(at("pid"))
            .args(["--host", &self.host(), "--bridge=none", "--iptables=false", "--storage-driver=vfs"])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        self.child = Some(command.spawn()?);
        let end = Instant::now() + PATIENCE;
        while !self.answers().await {
            let ended = self.child.as_mut().map(Child::try_wait).transpose()?.flatten();
            if ended.is_some() || Instant::now() > end {
                let log = std::fs::read_to_string(at("log")).unwrap_or_default();
                bail!("the engine does not answer ({ended:?}): {}", last_lines(&log));
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    async fn answers(&self) -> bool {
        // Without a socket even a client can't be made.
        match self.client() {
            Ok(client) => client.ping().await.is_ok(),
            Err(_) => false,
        }
    }

    pub(crate) fn host(&self) -> String {
        format!("unix://{}", self.dir.path().join("e.sock").display())
    }

    /// A connection to it that is not under test.
    pub(crate) fn client(&self) -> Result<Docker> {
        Ok(Docker::connect_with_unix(&self.host(), 20, API_DEFAULT_VERSION)?)
    }

    /// Stops it with SIGSTOP: it does nothing any more, and keeps everything open.
    pub(crate) fn freeze(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    pub(crate) fn thaw(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// Kills it without a chance to clean up.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        let mut child = self.child.take().context("it does not run")?;
        child.kill()?;
        child.wait()?;
        // Its other half dies with it, and must be gone before the next start.
        let helper = std::fs::read_to_string(self.dir.path().join("exec/containerd/containerd.pid"))?;
        let helper = Path::new("/proc").join(helper.trim());
        let end = Instant::now() + PATIENCE;
        while helper.exists() && Instant::now() < end {
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = self.child.as_ref().context("it does not run")?.id();
        Ok(kill_process(pid(id)?, signal)?)
    }

    /// Ends it; none of its processes or mounts may be left.
    pub(crate) async fn end(mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            let id = pid(child.id())?;
            kill_process(id, Signal::CONT)?;
            kill_process(id, Signal::TERM)?;
            tokio::task::spawn_blocking(move || child.wait()).await??;
        }
        let place = self.dir.path().to_owned();
        let end = Instant::now() + PATIENCE;
        while !processes::of(&place).is_empty() && Instant::now() < end {
            tokio::time::sleep(POLL).await;
        }
        let processes = processes::of(&place);
        // A killed engine leaves its containerd behind; removing it is up to us.
        let mounts: Vec<_> = mounts_below(&place).into_iter().filter(|mount| *mount != self.data()).collect();
        ensure!(processes.is_empty(), "processes of the engine are left: {processes:?}");
        ensure!(mounts.is_empty(), "mounts of the engine are left: {mounts:?}");
        Ok(())
    }
}

impl Drop for PrivateEngine {
    /// However the test ended, and whatever state the engine is in.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        for id in processes::of(self.dir.path()) {
            if let Ok(id) = pid(id) {
                let _ = kill_process(id, Signal::KILL);
            }
        }
        for mount in mounts_below(self.dir.path()).iter().rev() {
            let _ = Command::new("umount").arg("-l").arg(mount).stderr(Stdio::null()).status();
        }
    }
}

fn pid(id: u32) -> Result<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw).context("no process")
}

fn mounts_below(place: &Path) -> Vec<PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let points = mounts(&table).map(|mount| PathBuf::from(OsStr::from_bytes(&mount.point)));
    points.filter(|point| point.starts_with(place)).collect()
}

fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}
