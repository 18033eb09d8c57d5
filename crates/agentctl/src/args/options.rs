//! The options of a run on the command line, as `exec-config` describes them.

use std::ffi::{OsStr, OsString};

use clap::builder::{
    OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser,
};
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use exec_config::tree::Base;
use exec_config::{Arity, Described, Heading, OPTIONS, Setting};

use crate::backends;

/// The options that were typed, in the order of the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct OptionArgs(pub(crate) Vec<Setting>);

impl OptionArgs {
    /// Whether this option was typed.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|setting| setting.name() == name)
    }
}

impl Args for OptionArgs {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, option| command.arg(arg(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut typed = Self::default();
        typed.update_from_arg_matches(matches)?;
        Ok(typed)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let given = |option: &Described| {
            let values = matches.get_many::<Setting>(option.name).into_iter().flatten();
            values.cloned().reduce(|all, more| all.with(&more))
        };
        self.0 = OPTIONS.iter().filter_map(given).collect();
        Ok(())
    }
}

fn arg(option: &'static Described) -> Arg {
    let arg = Arg::new(option.name)
        .long(option.flag.trim_start_matches('-'))
        .short(option.short)
        .value_name(option.value_name)
        .help(summary(option))
        .long_help(long_help(option))
        .help_heading(heading(option.heading))
        .value_parser(parser(option));
    match option.arity {
        Arity::Switch => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        // A negative value is reported as a bad value, not as an unknown option.
        Arity::One => arg.allow_hyphen_values(option.heading == Heading::Limits),
        Arity::Many => arg.action(ArgAction::Append),
    }
}

fn summary(option: &Described) -> String {
    match option.arity {
        Arity::Switch | Arity::One => option.summary.to_owned(),
        Arity::Many => format!("{}; repeatable", option.summary),
    }
}

fn long_help(option: &Described) -> String {
    match option.details {
        "" => summary(option),
        details => format!("{}.\n\n{details}", summary(option)),
    }
}

fn heading(heading: Heading) -> &'static str {
    match heading {
        Heading::Sandbox => super::SANDBOX,
        Heading::Files => super::FILES,
        Heading::Environment => super::ENVIRONMENT,
        Heading::Limits => "Limits (`unlimited` lifts one)",
    }
}

fn parser(option: &'static Described) -> ValueParser {
    let backends = backends::all();
    let parse = move |word: &OsStr| option.parse(word, &Base { backends, ..Base::default() });
    match option.words(backends) {
        words if words.is_empty() => {
            OsStringValueParser::new().try_map(move |word: OsString| parse(&word)).into()
        }
        words => {
            let words = words.into_iter().map(|word| PossibleValue::new(word.word).help(word.about));
            PossibleValuesParser::new(words).try_map(move |word: String| parse(word.as_ref())).into()
        }
    }
}
