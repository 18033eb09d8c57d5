//! `agentctl bootstrap-docker`.

use std::path::PathBuf;

use clap::Args;
use exec_bootstrap::AgentCli;

/// Write the Dockerfile of an image to develop and test a project in.
///
/// Looks at the files that name toolchains and dependencies (go.mod, package.json, pyproject.toml, Cargo.toml, pom.xml,
/// Gemfile and what lies beside them), and writes Dockerfile and .dockerignore. The image has compilers, package managers
/// and the dependencies, so that tests run in the sandbox without a network. Files that you wrote are never replaced without
/// --force. With --check it exits with 1 if the files are not what they would be now.
///
/// --compose writes what runs the project as an application too: Dockerfile.dev is then the image to work in, Dockerfile the
/// application, and there are two compose files and scripts to build, start and stop it.
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
    /// The project. Default: the current directory.
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,

    /// Say what was decided and why, and write nothing.
    #[arg(long, conflicts_with_all = ["check", "stdout", "force"])]
    pub(crate) explain: bool,

    /// Write nothing; exit with 1 if a file is missing or stale.
    #[arg(long, conflicts_with_all = ["stdout", "force"])]
    pub(crate) check: bool,

    /// Print the files instead of writing them: the Dockerfile, or with --compose all of them.
    #[arg(long, conflicts_with = "force")]
    pub(crate) stdout: bool,

    /// Replace files that you wrote.
    #[arg(long)]
    pub(crate) force: bool,

    /// Begin with this image, which has the toolchain. Default: the official image of the project's version. A file that was
    /// generated with --base is checked and made again only with --base: a command can write its first lines too.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) base: Option<String>,

    /// Name images by their digests too, those that the local Docker or Podman knows. Default: what the existing file has.
    #[arg(long)]
    pub(crate) digest: bool,

    /// Write the files to run the project as an application too. Default: what the existing files were generated with.
    #[arg(long)]
    pub(crate) compose: bool,

    /// Add programs of agents, at a pinned version.
    ///
    /// NAME is claude, codex or gemini; NAME@VERSION another version than the one known here.
    #[arg(long, value_name = "NAME[@VERSION]", value_delimiter = ',')]
    pub(crate) with_cli: Vec<AgentCli>,
}
