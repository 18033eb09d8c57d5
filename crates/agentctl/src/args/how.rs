//! Everything about how commands run, shared by all subcommands that run any.

use clap::Args;

use super::{ConfigArg, FileArgs, OptionArgs, SecretArgs, TalkArgs, WallsArgs};

// Without a doc comment: it would become the help text of every command that has these options.
#[derive(Debug, Args)]
pub(crate) struct HowArgs {
    #[command(flatten)]
    pub(crate) options: OptionArgs,
    #[command(flatten)]
    pub(crate) walls: WallsArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
    #[command(flatten)]
    pub(crate) config: ConfigArg,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
