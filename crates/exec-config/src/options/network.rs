//! `network`: what the command can reach.

use exec_core::Network;

use super::kinds::one_of;
use super::prelude::*;

/// The command's network.
pub(crate) struct NetworkMode;

impl RunOption for NetworkMode {
    type Value = Network;

    const DOCS: Docs = Docs {
        name: "network",
        flag: "--network",
        value_name: "NETWORK",
        heading: Heading::Sandbox,
        summary: "Choose what the command can reach [default: none]",
        example: "\"none\"",
        ..Docs::EMPTY
    };

    const SECTION: Option<SectionKey<Network>> = Some(SectionKey::same("network", "As `network`."));

    fn apply(settings: &mut Settings, network: Network) {
        settings.opts.network = Some(network);
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed("none")
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        let reach = |settings: &Settings| match settings.opts.network {
            None | Some(Network::None) => 0,
            Some(Network::Bridge) => 1,
            Some(_) => 2,
        };
        reach(after) > reach(before)
    }
}

impl OptionValue for Network {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        parsed(node, "a network", str::parse::<Self>)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn schema(backends: &[Backend]) -> Value {
        one_of(&Self::words(backends))
    }

    fn words(_: &[Backend]) -> Vec<Word> {
        vec![
            Word::new("none", "A loopback of its own"),
            Word::new("bridge", "A way out, for containers"),
            Word::new("host", "The network of this machine"),
        ]
    }
}
