//! `agentctl ps`: running commands.

use agent_exec::control::Controller;
use exec_core::Result;

use super::print;
use crate::args::PsArgs;
use crate::output::{Line, Voice, ps, say, to_line};

/// Prints the list.
pub(crate) fn ps(args: &PsArgs) -> Result<u8> {
    let controller = Controller::of_this_user();
    let (cells, latch) = (controller.look()?, controller.latched()?);
    if args.json {
        return print(to_line(&ps::object(&cells, latch.as_ref())).as_bytes());
    }
    if let Some(latch) = latch {
        say(Voice::Person, &ps::latched(&latch));
    }
    let rows = ps::rows(&cells, args.all);
    if rows.is_empty() {
        say(Voice::Person, &Line::info("nothing runs"));
        return Ok(0);
    }
    print(ps::render(&rows).as_bytes())
}
