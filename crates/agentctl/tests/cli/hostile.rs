//! The host side meets a workspace in which every name that it could read or create is something else.

use rstest::rstest;

use crate::support::Place;
use crate::support::hostile::{
    Build, Decoy, Kind, Layout, answers, commands, fill, names_in_the_source, save_output_to,
};

/// R29, A3, A39, A43, A44, A46: whatever a command planted under whatever name, each of our commands answers, and changes
/// nothing outside.
#[rstest]
fn every_command_of_ours(
    #[values(Layout::All, Layout::WithoutConfiguration, Layout::WithoutRepository, Layout::Nested)]
    layout: Layout,
) {
    let names = names_in_the_source();
    for kind in Kind::ALL {
        let (place, decoy) = (Place::new(), Decoy::new());
        fill(&place, &decoy, &names, kind, layout);
        for args in commands(layout, &[], Build::No) {
            answers(&place, &decoy, &args, "");
        }
        if layout == Layout::WithoutRepository {
            answers(&place, &decoy, &["mcp"], &save_output_to("Cargo.toml"));
            answers(&place, &decoy, &["doctor"], "");
        }
    }
}
