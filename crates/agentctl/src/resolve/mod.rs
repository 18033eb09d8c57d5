//! What the words mean: from arguments to a job. Pure but for the host's facts, which come in as [`Host`].

mod opts;
mod secrets;

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;

use exec_config::{Config, Entry, HostEnvironment, Setting, Wanted};
use exec_core::{Capture, Cmd, Error, ErrorKind, ExecOpts, Limit, Request, Result, Stdin, WindowSize};
use exec_workshop::Workshop;

use crate::args::{
    ConfigArg, DoctorArgs, FileArgs, HowArgs, LogArg, RunArgs, ShellArgs, StdinArg, TalkArgs, TtyArg,
    WallsArg,
};
use crate::output::{Escapes, Format, Treatment, Voice};
use crate::terminal;

/// A run, ready to be carried out.
#[derive(Debug)]
pub(crate) struct Job {
    /// What to run: the first of these that exists.
    pub(crate) commands: Vec<Cmd>,
    /// How to run it, on each sandbox that may be chosen.
    pub(crate) opts: OptsByBackend,
    /// Which sandbox.
    pub(crate) request: Request,
    /// What keeps `auto` from taking a container.
    pub(crate) ruled_out: Option<String>,
    /// What its configuration gives reason to say.
    pub(crate) warnings: Vec<String>,
    /// What the local one is made of.
    pub(crate) walls: WallsArg,
    /// What is done with our standard input.
    pub(crate) input: Input,
    /// What is done with our terminal.
    pub(crate) terminal: OurTerminal,
    /// What the output is turned into.
    pub(crate) format: Format,
    /// What is done with control sequences in it.
    pub(crate) escapes: Escapes,
    /// How much we say ourselves.
    pub(crate) talk: Talk,
    /// And how.
    pub(crate) voice: Voice,
}

pub(crate) use opts::OptsByBackend;
use secrets::Secrets;

/// What is done with our standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// It is left alone.
    Nothing,
    /// The command gets it.
    Stream,
}

/// What is done with our terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OurTerminal {
    /// Nothing.
    Untouched,
    /// Every key goes to the command's own terminal.
    Raw,
}

/// How much we say ourselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Talk {
    /// Errors.
    Quiet,
    /// Warnings too. More would get in the way of a program that reads the command's own output.
    Terse,
    /// Also, in a line, where the command runs.
    Normal,
    /// Also what is used and how.
    Verbose,
}

/// What the host says about itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host {
    pub(crate) stdin_is_terminal: bool,
    pub(crate) stdout_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    pub(crate) window: Option<WindowSize>,
    pub(crate) variable: fn(&OsStr) -> Option<OsString>,
}

impl Host {
    /// This process's.
    pub(crate) fn ours() -> Self {
        Self {
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            window: terminal::size(),
            variable: |name| std::env::var_os(name),
        }
    }
}

/// The job of `agentctl run`.
pub(crate) fn run(args: RunArgs, surroundings: &impl HostEnvironment, host: Host) -> Result<Job> {
    let commands = vec![Cmd::from_argv(args.argv)?];
    let default = Capture::default();
    let streams = Streams {
        capture: args.io.json.then(|| Capture { cap: args.io.capture.unwrap_or(default.cap), ..default }),
        raw: args.io.raw,
        ..Streams::plain(args.io.tty, args.io.stdin)
    };
    let job = without_command(&args.how, Vec::new(), streams, surroundings, host)?;
    Ok(Job { commands, ..job })
}

/// The job of `agentctl shell`.
pub(crate) fn shell(args: &ShellArgs, surroundings: &impl HostEnvironment, host: Host) -> Result<Job> {
    let streams = Streams::plain(TtyArg::Auto, StdinArg::Inherit);
    let mut job = without_command(&args.how, Vec::new(), streams, surroundings, host)?;
    job.commands = shells((host.variable)(OsStr::new("SHELL")));
    lift_time(&mut job, &args.how);
    Ok(job)
}

/// What `agentctl doctor` tries: a run with these options, without input and without a terminal.
pub(crate) fn doctor(args: &DoctorArgs, surroundings: &impl HostEnvironment, host: Host) -> Result<Job> {
    let mut job = service(&args.how, surroundings, host)?;
    lift_time(&mut job, &args.how);
    // It tries all of them.
    surroundings.backends().iter().try_for_each(|backend| job.opts.refuse(backend.name))?;
    Ok(job)
}

/// How the commands of a server's clients run: without input and without a terminal.
pub(crate) fn service(how: &HowArgs, surroundings: &impl HostEnvironment, host: Host) -> Result<Job> {
    without_command(how, Vec::new(), Streams::plain(TtyArg::Never, StdinArg::None), surroundings, host)
}

/// How commands run in a workshop; what was typed wins over what its file says. Its files stay as they are.
pub(crate) fn workshop(
    how: &HowArgs,
    workshop: &Workshop,
    stdin: StdinArg,
    surroundings: &impl HostEnvironment,
    host: Host,
) -> Result<Job> {
    let said = workshop.settings.clone();
    let mut job = without_command(how, said, Streams::plain(TtyArg::Never, stdin), surroundings, host)?;
    let files: Vec<_> = workshop.files.iter().filter_map(|file| surroundings.canonical(file).ok()).collect();
    job.opts.each(|opts| opts.kept_files.extend(files.iter().cloned()));
    Ok(job)
}

/// What was asked for about input and output.
#[derive(Debug, Clone)]
struct Streams {
    tty: TtyArg,
    stdin: StdinArg,
    /// What is kept for an object at the end; without one the output passes through.
    capture: Option<Capture>,
    raw: bool,
}

impl Streams {
    fn plain(tty: TtyArg, stdin: StdinArg) -> Self {
        Self { tty, stdin, capture: None, raw: false }
    }
}

/// `said` holds where the option was not typed.
fn without_command(
    how: &HowArgs,
    said: Vec<Setting>,
    streams: Streams,
    surroundings: &impl HostEnvironment,
    host: Host,
) -> Result<Job> {
    let said = said.into_iter().filter(|setting| !how.options.has(setting.name()));
    let flags = how.options.0.iter().cloned().chain(said).map(Entry::of_flag).collect();
    let config = configuration(surroundings, &how.config, &how.files, flags)?;
    let mut opts = OptsByBackend::build(&config, &how.files, surroundings, host)?;
    let secrets = Secrets::read(&how.secrets.secret, host.variable)?;
    opts.each(|opts| secrets.apply_to(opts));
    let warnings = config.warnings().to_vec();
    let format = match streams.capture {
        Some(capture) => Format::Json { capture, warnings: warnings.clone() },
        None => Format::Stream,
    };
    let wiring = Wiring::new(streams.tty, streams.stdin, &format, host);
    opts.each(|opts| wiring.apply_to(opts));
    Ok(Job {
        commands: vec![Cmd::new("true")],
        opts,
        request: config.request(),
        ruled_out: config.rules_containers_out(),
        warnings,
        walls: how.walls.walls,
        input: wiring.input,
        terminal: wiring.terminal,
        format,
        escapes: escapes(wiring.tty.is_some() || streams.raw, host),
        talk: talk(&how.talk, host),
        voice: voice(how.talk.log),
    })
}

/// What a person ends has no time limit, unless one was given.
fn lift_time(job: &mut Job, how: &HowArgs) {
    if !how.options.has("timeout") {
        job.opts.each(|opts| opts.limits.timeout = Limit::Unlimited);
    }
}

/// Everything that is configured, with what was typed on top.
fn configuration(
    surroundings: &impl HostEnvironment,
    config: &ConfigArg,
    files: &FileArgs,
    flags: Vec<Entry>,
) -> Result<Config> {
    let workspace = files.workspace.clone().unwrap_or_else(|| ".".into());
    Config::load(surroundings, Wanted { workspace, file: config.config.clone(), flags })
}

/// How our streams and the command's are tied together.
#[derive(Debug, Clone, Copy)]
struct Wiring {
    tty: Option<WindowSize>,
    input: Input,
    terminal: OurTerminal,
}

impl Wiring {
    fn new(tty: TtyArg, stdin: StdinArg, format: &Format, host: Host) -> Self {
        let tty = match tty {
            TtyArg::Always => true,
            TtyArg::Auto => host.stdin_is_terminal && host.stdout_is_terminal,
            TtyArg::Never => false,
        };
        let input = match stdin {
            StdinArg::None => Input::Nothing,
            StdinArg::Auto if host.stdin_is_terminal && !tty => Input::Nothing,
            StdinArg::Auto | StdinArg::Inherit => Input::Stream,
        };
        // Someone who gets an object at the end sees nothing of what the keys do.
        let interactive =
            tty && host.stdin_is_terminal && input == Input::Stream && *format == Format::Stream;
        Self {
            tty: tty.then(|| host.window.unwrap_or_default()),
            input,
            terminal: if interactive { OurTerminal::Raw } else { OurTerminal::Untouched },
        }
    }

    fn apply_to(self, opts: &mut ExecOpts) {
        opts.tty = self.tty;
        opts.stdin = match self.input {
            Input::Nothing => Stdin::Empty,
            Input::Stream => Stdin::Stream,
        };
    }
}

/// A terminal of the command's own is obeyed, as every terminal program expects; so is everything that is not shown
/// to a person.
fn escapes(obeyed: bool, host: Host) -> Escapes {
    let treatment =
        |is_terminal: bool| if is_terminal && !obeyed { Treatment::Visible } else { Treatment::AsIs };
    Escapes { stdout: treatment(host.stdout_is_terminal), stderr: treatment(host.stderr_is_terminal) }
}

fn talk(args: &TalkArgs, host: Host) -> Talk {
    match (args.quiet, args.verbose) {
        (true, _) => Talk::Quiet,
        (_, true) => Talk::Verbose,
        _ if host.stderr_is_terminal => Talk::Normal,
        _ => Talk::Terse,
    }
}

/// For whom our lines are.
pub(crate) fn voice(log: LogArg) -> Voice {
    match log {
        LogArg::Text => Voice::Person,
        LogArg::Worker => Voice::Worker,
    }
}

/// The user's own, if it is a path that can mean the same inside; then those that are likely to be there.
fn shells(own: Option<OsString>) -> Vec<Cmd> {
    let own = own.filter(|shell| shell.as_encoded_bytes().starts_with(b"/")).map(Cmd::new);
    own.into_iter().chain([Cmd::new("bash"), Cmd::new("sh")]).collect()
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, "run", message)
}

#[cfg(test)]
mod tests;
