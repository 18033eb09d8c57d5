//! `agentctl bootstrap-docker`.

use std::path::PathBuf;

use clap::Args;
use exec_bootstrap::AgentCli;

/// Write a Dockerfile to develop and test a project in.
///
/// Reads the files that name toolchains and dependencies (go.mod, package.json, pyproject.toml, Cargo.toml,
/// pom.xml, Gemfile and related ones), and writes Dockerfile and .dockerignore. The image has compilers,
/// package managers and the dependencies, so that tests run in the sandbox without a network. Files that you
/// wrote are never replaced without --force. With --check it exits with 1 if the files are out of date.
///
/// --compose also writes the files that run the project as an application: Dockerfile.dev is then the
/// development image and Dockerfile the application, with two compose files and scripts to build, start and
/// stop it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl bootstrap-docker
  agentctl bootstrap-docker --explain
  agentctl bootstrap-docker --stdout > Dockerfile.dev
  agentctl bootstrap-docker --check
  agentctl bootstrap-docker --base golang:1.22-alpine ~/project
  agentctl bootstrap-docker --with-cli claude,codex --compose
  agentctl run --image build -- go test ./...")]
#[expect(clippy::struct_excessive_bools, reason = "flags that exclude each other are typed as flags")]
pub(crate) struct BootstrapArgs {
    /// Read this project. Default: the current directory.
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,

    /// Print each decision and its reason, and write nothing.
    #[arg(long, conflicts_with_all = ["check", "stdout", "force"])]
    pub(crate) explain: bool,

    /// Write nothing; exit with 1 if a file is missing or stale.
    #[arg(long, conflicts_with_all = ["stdout", "force"])]
    pub(crate) check: bool,

    /// Print the Dockerfile, or with --compose all files, and write nothing.
    #[arg(long, conflicts_with = "force")]
    pub(crate) stdout: bool,

    /// Replace files that you wrote.
    #[arg(long)]
    pub(crate) force: bool,

    /// Begin with this image, which has the toolchain. Default: the official image of the project's version.
    /// A file that was generated with --base is checked and regenerated only with --base, because a command
    /// can write its first lines too.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) base: Option<String>,

    /// Pin images to the digests that the local Docker or Podman knows. Default: as in the existing file.
    #[arg(long)]
    pub(crate) digest: bool,

    /// Write the files that run the project as an application too. Default: as in the existing files.
    #[arg(long)]
    pub(crate) compose: bool,

    /// Add programs of agents, at a pinned version.
    ///
    /// NAME is claude, codex or gemini; NAME@VERSION selects another version than the default.
    #[arg(long, value_name = "NAME[@VERSION]", value_delimiter = ',')]
    pub(crate) with_cli: Vec<AgentCli>,
}
