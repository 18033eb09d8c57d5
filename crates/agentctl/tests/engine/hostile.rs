//! The host side works on a workspace in which every name that it could read or create is something
//! unexpected.

use anyhow::Result;

use crate::ENGINE;
use crate::support::Place;
use crate::support::hostile::{Build, Decoy, Kind, Layout, answers, commands, fill, names_in_the_source};

/// R29, A43: whatever a command planted, a run on an engine and a build for it answer, and change nothing
/// outside.
pub(crate) async fn runs_and_builds() -> Result<()> {
    let names = names_in_the_source();
    for kind in Kind::ALL {
        for layout in [Layout::WithoutRepository, Layout::BuildContext] {
            // A context of terabytes is not refused: the size of an image is its owner's decision.
            if (kind, layout) == (Kind::Huge, Layout::BuildContext) {
                continue;
            }
            let (place, decoy) = (Place::new(), Decoy::new());
            fill(&place, &decoy, &names, kind, layout);
            let all = commands(layout, &ENGINE.sandbox(), Build::Yes);
            for args in all.iter().filter(|args| args.first() == Some(&"run")) {
                answers(&place, &decoy, args, "");
            }
        }
    }
    Ok(())
}
