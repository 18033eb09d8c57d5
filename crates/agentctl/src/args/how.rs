//! Everything about how commands run, for all of ours that run any.

use clap::Args;

use super::{ConfigArg, EnvArgs, FileArgs, LimitArgs, SandboxArgs, TalkArgs};

// Without a doc comment: it would become the help text of whichever command has these options.
#[derive(Debug, Args)]
pub(crate) struct HowArgs {
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) env: EnvArgs,
    #[command(flatten)]
    pub(crate) config: ConfigArg,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
