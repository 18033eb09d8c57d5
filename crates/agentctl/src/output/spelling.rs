//! Remedies in this program's own terms: options are flags, operations are commands. Pure.

use exec_core::{Change, Direction, Operation, Remedy, Step};

/// Flags of options that no configuration file can set, by the names that libraries give them.
const OF_ONE_CALL: [(&str, &str); 8] = [
    ("allow_dangerous_mounts", "--allow-dangerous-mounts"),
    ("base", "--base"),
    ("digest", "--digest"),
    ("force", "--force"),
    ("session", "--session"),
    ("stdout", "--stdout"),
    ("tty", "--tty"),
    ("walls", "--walls"),
];

/// A remedy as a sentence.
pub(crate) fn spelled(remedy: &Remedy) -> String {
    remedy.spelled(step)
}

/// Replaces a remedy in a library's report with that sentence.
pub(crate) fn spell(remedy: &mut Remedy) {
    *remedy = spelled(remedy).into();
}

fn step(step: &Step) -> String {
    match step {
        Step::Container => "use a container (--sandbox docker)".to_owned(),
        Step::Option(change) => option(change),
        Step::Operation(operation) => command(operation),
        text => text.to_string(),
    }
}

fn option(change: &Change) -> String {
    let Some(flag) = flag(change.option()) else { return change.to_string() };
    change.complete(match change.direction() {
        Direction::Raise => format!("raise {flag}"),
        Direction::Lower => format!("lower {flag}"),
        Direction::Set(Some(value)) => format!("use {flag} {value}"),
        Direction::Set(None) => format!("pass {flag}"),
        Direction::LeaveOut => format!("leave {flag} out"),
    })
}

fn flag(option: &str) -> Option<&'static str> {
    let of_one_call = || OF_ONE_CALL.iter().find(|(name, _)| *name == option).map(|(_, flag)| *flag);
    exec_config::option(option).map(|option| option.flag).or_else(of_one_call)
}

fn command(operation: &Operation) -> String {
    match operation {
        Operation::CollectGarbage => "run `agentctl gc`".to_owned(),
        Operation::GenerateDockerfile => "write one with `agentctl bootstrap-docker`".to_owned(),
        Operation::Kill(name) => format!("run `agentctl kill {name}`"),
        Operation::Resume => "lift it with `agentctl resume`".to_owned(),
        Operation::List => "see what runs with `agentctl ps`".to_owned(),
        Operation::Diagnose => "see why with `agentctl doctor`".to_owned(),
        Operation::ReportBug => "report it, with the output of `agentctl doctor --json`".to_owned(),
        Operation::Trace => "see what `agentctl run --verbose -- true` reports".to_owned(),
        Operation::DescribeConfiguration => "`agentctl config schema` describes every key".to_owned(),
        Operation::Help(topic) => format!("see `agentctl {topic} --help`"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    /// R42
    #[test]
    fn options_are_flags_and_operations_are_commands() {
        let shown = |remedy: Remedy| spelled(&remedy);
        let room = Remedy::host("end other commands").or(Change::raise("pids")).or(Change::lower("cpus"));
        assert_eq!(shown(room), "end other commands, raise --pids, or lower --cpus");
        let image = Remedy::from(Change::set("image", "build").with_purpose("to build Dockerfile"))
            .or(Change::leave_out("gpus"));
        assert_eq!(shown(image), "use --image build to build Dockerfile, or leave --gpus out");
        let danger = Remedy::from("name another directory").or(Remedy::dangerous_mounts());
        assert_eq!(shown(danger), "name another directory, or pass --allow-dangerous-mounts if you mean it");
        assert_eq!(shown(Change::set("executor", "local").into()), "use --sandbox local");
        assert_eq!(shown(Change::raise("no_flag").into()), "raise the option `no_flag`");
        let resume = Remedy::from(Operation::Resume).after("see that all is well");
        assert_eq!(shown(resume), "see that all is well; lift it with `agentctl resume`");
        assert_eq!(shown(Operation::Kill("x".into()).into()), "run `agentctl kill x`");
        assert_eq!(shown(Remedy::container()), "use a container (--sandbox docker)");
    }

    #[test]
    fn every_flag_is_one_of_ours() {
        fn flags(command: &clap::Command, found: &mut Vec<String>) {
            found.extend(command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))));
            command.get_subcommands().for_each(|command| flags(command, found));
        }
        let mut ours = Vec::new();
        flags(&Cli::command(), &mut ours);
        for (name, flag) in OF_ONE_CALL {
            assert!(ours.iter().any(|one| one == flag), "{name}");
        }
    }
}
