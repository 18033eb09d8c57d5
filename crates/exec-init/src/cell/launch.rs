//! From a forked process to the command: everything between `fork` and `exec`.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd};

use exec_wire::{Resource as WireResource, Rlimit as WireRlimit, Stage, Start};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};

use super::path;
use super::report::Reporter;
use crate::fence::Fence;
use crate::sys::{self, Range, Vector};

/// The interpreter of scripts without a `#!` line.
const SHELL: &CStr = c"/bin/sh";

/// A command ready to run: everything that allocates is done before the fork.
pub(crate) struct Launch {
    argv: Vec<CString>,
    env: Vec<CString>,
    files: Vec<CString>,
    cwd: CString,
    umask: u32,
    rlimits: Vec<WireRlimit>,
    /// The limit on open files before this program raised its own.
    open_files: Rlimit,
}

/// The command's descriptors 0, 1 and 2.
pub(crate) enum ChildStdio {
    Pipes { stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd },
    Tty(OwnedFd),
}

impl Launch {
    pub(crate) fn new(start: Start, open_files: Rlimit) -> Result<Self, Errno> {
        let argv = c_strings(start.argv)?;
        let env = c_strings(start.env)?;
        let files = argv.first().map(|program| path::candidates(program, &env)).ok_or(Errno::INVAL)?;
        let cwd = CString::new(start.cwd).map_err(|_| Errno::INVAL)?;
        Ok(Self { argv, env, files, cwd, umask: start.umask, rlimits: start.rlimits, open_files })
    }

    /// Turns this freshly forked process into the command.
    pub(crate) fn run(&self, stdio: &ChildStdio, fence: &Fence, reporter: &Reporter) -> ! {
        let (stage, errno) = self.failure(stdio, fence);
        reporter.failure(stage, errno);
        sys::exit_now(127)
    }

    /// Returns only on failure.
    fn failure(&self, stdio: &ChildStdio, fence: &Fence) -> (Stage, Errno) {
        if let Err(errno) = attach(stdio) {
            return (Stage::Stdio, errno);
        }
        rustix::process::umask(Mode::from_raw_mode(self.umask & 0o777));
        self.limit();
        if let Err(errno) = rustix::process::chdir(self.cwd.as_c_str()) {
            return (Stage::Cwd, errno);
        }
        if let Err(errno) = fence.confine_child() {
            return (Stage::Confine, errno);
        }
        // Every disposition has been the default since this program started.
        sys::unblock_signals();
        sys::descriptors(3, u32::MAX, Range::CloseOnExec);
        (Stage::Exec, self.exec())
    }

    /// Keeps a limit that the kernel refuses to raise: a lower limit is not an error.
    fn limit(&self) {
        let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        let _ = rustix::process::setrlimit(Resource::Nofile, self.open_files);
        for limit in &self.rlimits {
            let resource = resource(limit.resource);
            let hard = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let value = Some(limit.value.min(hard));
            let _ = rustix::process::setrlimit(resource, Rlimit { current: value, maximum: value });
        }
    }

    fn exec(&self) -> Errno {
        let env = Vector::new(self.env.iter().map(CString::as_c_str));
        let argv = Vector::new(self.argv.iter().map(CString::as_c_str));
        let mut last = Errno::NOENT;
        for file in &self.files {
            let error = match sys::exec(file, &argv, &env) {
                Errno::NOEXEC => self.exec_script(file, &env),
                // A directory that may not be searched, or is behind the fence, holds no program for this
                // command.
                Errno::ACCESS if rustix::fs::stat(file).is_err() => Errno::NOENT,
                other => other,
            };
            match path::next_error(last, error) {
                Some(kept) => last = kept,
                None => return error,
            }
        }
        last
    }

    /// Runs a text file without a `#!` line as a shell script, as `execvp` does, but not a program for
    /// another machine.
    fn exec_script(&self, file: &CStr, env: &Vector<'_>) -> Errno {
        if !is_text(file) {
            return Errno::NOEXEC;
        }
        let rest = self.argv.iter().skip(1).map(CString::as_c_str);
        sys::exec(SHELL, &Vector::new([SHELL, file].into_iter().chain(rest)), env)
    }
}

/// Whether a file looks like text by the shells' rule: no NUL byte at its beginning.
fn is_text(file: &CStr) -> bool {
    let mut beginning = [0; 128];
    let opened = rustix::fs::open(file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let read = opened.and_then(|file| rustix::io::read(file, &mut beginning));
    read.is_ok_and(|count| beginning.get(..count).is_some_and(|bytes| !bytes.contains(&0)))
}

fn c_strings(strings: Vec<Vec<u8>>) -> Result<Vec<CString>, Errno> {
    strings.into_iter().map(|bytes| CString::new(bytes).map_err(|_| Errno::INVAL)).collect()
}

fn attach(stdio: &ChildStdio) -> Result<(), Errno> {
    rustix::process::setsid()?;
    let sources = match stdio {
        ChildStdio::Pipes { stdin, stdout, stderr } => [stdin, stdout, stderr],
        ChildStdio::Tty(slave) => {
            rustix::process::ioctl_tiocsctty(slave)?;
            [slave, slave, slave]
        }
    };
    for (number, source) in (0..).zip(sources) {
        sys::place(source.as_raw_fd(), number)?;
    }
    Ok(())
}

fn resource(resource: WireResource) -> Resource {
    match resource {
        WireResource::OpenFiles => Resource::Nofile,
        WireResource::Processes => Resource::Nproc,
        WireResource::Data => Resource::Data,
        WireResource::FileSize => Resource::Fsize,
    }
}
