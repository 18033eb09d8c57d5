//! `agentctl mcp`: the tools of a sandbox for an MCP client.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;
use std::sync::Arc;

use exec_config::MCP_TOKEN_VARIABLE as TOKEN;
use exec_core::{Error, ErrorKind, Executor, Result};
use exec_mcp::{Listener, Server, Token, serve_stdio};
use exec_tools::{Bounds, Tool, Toolbox};
use tokio_util::sync::CancellationToken;

use super::run::{Occasion, introduce, listen};
use crate::args::{McpArgs, StdinArg};
use crate::backends::{self, here};
use crate::choose;
use crate::output::{Line, clients, say};
use crate::resolve::{self, Host, Job};

/// Serves and returns the exit status.
pub(crate) async fn mcp(args: McpArgs) -> Result<u8> {
    let (job, tools) = resolve(&args)?;
    if let Some(client) = args.print_config {
        return print_config(client, &args, &job);
    }
    let mut signals = listen()?;
    let stop = CancellationToken::new();
    let serving = serve(&args, &job, &tools, stop.clone());
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => return served.map(|()| 0),
        _ = signals.stop_asked() => stop.cancel(),
    }
    tokio::select! {
        served = serving => served.map(|()| 0),
        // A second signal means that the user does not want to wait; running commands die with this process.
        _ = signals.stop_asked() => Ok(crate::exit_code::CANCELLED),
    }
}

/// How commands run, and the available tools: the worker's, or all, restricted to those requested.
fn resolve(args: &McpArgs) -> Result<(Job, BTreeSet<Tool>)> {
    let (job, mut tools) = match (&args.workshop, &args.worker) {
        (Some(file), Some(name)) => {
            let workshop = exec_workshop::load(file, backends::all())?;
            let worker = super::workshop::worker(&workshop, name)?;
            let job = resolve::workshop(&args.how, &workshop, StdinArg::None, &here(), Host::ours())?;
            (job, worker.allowed.tools())
        }
        _ => (resolve::service(&args.how, &here(), Host::ours())?, Tool::ALL.into()),
    };
    tools.retain(|tool| args.only.is_empty() || args.only.contains(tool));
    Ok((job, tools))
}

async fn serve(args: &McpArgs, job: &Job, tools: &BTreeSet<Tool>, stop: CancellationToken) -> Result<()> {
    let listener = match args.http {
        Some(address) => Some((Listener::bind(address).await?, token()?)),
        None => None,
    };
    let sandbox = tokio::select! {
        chosen = choose::sandbox(job) => chosen?,
        () = stop.cancelled() => return Ok(()),
    };
    introduce(job, &sandbox, Occasion::Command);
    let opts = job.opts.on(sandbox.name()).clone();
    let default = Bounds::default();
    let bounds = Bounds { output: args.reply_size.unwrap_or(default.output), ..default };
    let toolbox = Toolbox::new(Arc::new(sandbox), opts, bounds)?.only(tools);
    let server = Server::new(Arc::new(toolbox), env!("CARGO_PKG_VERSION"));
    match listener {
        None => serve_stdio(server, stop).await,
        Some((listener, (token, shown))) => {
            let shown = shown.map_or_else(String::new, |token| format!(" with the token {token}"));
            say(job.voice, &Line::info(format!("serving MCP at {}{shown}", listener.url())));
            listener.serve(server, token, stop).await
        }
    }
}

/// The token that clients must send, and how to show it: a token made here is printed, because no client
/// knows it yet.
fn token() -> Result<(Token, Option<String>)> {
    if let Ok(token) = std::env::var(TOKEN) {
        return Ok((Token::new(token)?, None));
    }
    let token = random()?;
    Ok((Token::new(token.clone())?, Some(token)))
}

fn random() -> Result<String> {
    let mut bytes = [0; 32];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| {
        Error::new(ErrorKind::Io, "start", "can't make a token")
            .with_source(error)
            .with_remedy(format!("set {TOKEN}"))
    })?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

fn print_config(client: crate::args::ClientArg, args: &McpArgs, job: &Job) -> Result<u8> {
    let program = std::env::current_exe().map_err(|error| {
        Error::new(ErrorKind::Io, "print", "can't find this program's own path").with_source(error)
    })?;
    let workspace = args.how.files.workspace.clone().unwrap_or_else(|| ".".into());
    let workspace = workspace.canonicalize().map_err(|error| {
        Error::new(
            ErrorKind::InvalidInput,
            "print",
            format!("the workspace `{}` can't be used", workspace.display()),
        )
        .with_source(error)
        .with_remedy("name a directory that exists")
    })?;
    let words = std::env::args().skip(2).collect();
    let snippet =
        clients::snippet(client, &program.to_string_lossy(), &workspace.to_string_lossy(), words, args.http)?;
    say(job.voice, &Line::info(snippet.place));
    super::print(snippet.text.as_bytes())
}
