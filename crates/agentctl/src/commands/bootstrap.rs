//! `agentctl bootstrap-docker`: shows, checks or writes what `exec-bootstrap` makes of a project.

use std::path::Path;

use exec_bootstrap::{Existing, Outcome, Plan, Standing, Wishes};
use exec_core::Result;

use super::print;
use crate::args::BootstrapArgs;
use crate::exit_code;
use crate::output::{Line, Voice, say, table};

/// Does it and returns what to exit with.
pub(crate) fn bootstrap(args: &BootstrapArgs) -> Result<u8> {
    let root = args.path.as_deref().unwrap_or(Path::new("."));
    let tree = exec_bootstrap::read(root)?;
    let wishes = match &args.base {
        Some(base) => Wishes { base: Some(base.clone()) },
        None => exec_bootstrap::wishes(root)?,
    };
    let plan = Plan::of(&tree, &wishes).map_err(|error| match &args.path {
        Some(path) => error.with_context("project", path.display()),
        None => error,
    })?;
    if args.explain {
        return explain(&plan);
    }
    plan.warnings().iter().for_each(|warning| say(Voice::Person, &Line::warn(warning)));
    if args.stdout {
        print(plan.dockerfile().as_bytes())
    } else if args.check {
        check(root, &plan)
    } else {
        write(root, &plan, if args.force { Existing::Replace } else { Existing::Keep })
    }
}

fn explain(plan: &Plan) -> Result<u8> {
    let reasons = plan.reasons().iter().map(|reason| [reason.what.clone(), reason.why.clone()]);
    let notes = plan.warnings().iter().map(|warning| ["NOTE".to_owned(), warning.clone()]);
    print(table(&["WHAT", "WHY"], reasons.chain(notes)).as_bytes())
}

fn check(root: &Path, plan: &Plan) -> Result<u8> {
    let again = "run `agentctl bootstrap-docker` here without --check";
    let mut code = 0;
    for (name, standing) in exec_bootstrap::check(root, plan)? {
        let path = place(root, name);
        let (what, remedy) = match standing {
            Standing::Current => continue,
            // It stays when files are written, so that it is nothing to complain about.
            Standing::HandWritten if name == exec_bootstrap::DOCKERIGNORE => continue,
            Standing::Missing => (format!("{path} is missing"), again),
            Standing::Stale => (format!("{path} is stale: something else would be generated now"), again),
            Standing::HandWritten => {
                (format!("{path} was not generated, so that it can't be checked"), "compare it with --stdout")
            }
        };
        code = exit_code::STALE;
        say(Voice::Person, &Line::error(what).with_remedy(remedy));
    }
    Ok(code)
}

fn write(root: &Path, plan: &Plan, existing: Existing) -> Result<u8> {
    for (name, outcome) in exec_bootstrap::write(root, plan, existing)? {
        let path = place(root, name);
        let what = match outcome {
            Outcome::Written => format!("wrote {path}"),
            Outcome::Unchanged => format!("{path} is up to date"),
            Outcome::Kept => format!("{path} was not generated, and stays as it is"),
        };
        say(Voice::Person, &Line::info(what));
    }
    Ok(0)
}

/// As people name a file in the current directory.
fn place(root: &Path, name: &str) -> String {
    if root == Path::new(".") { name.to_owned() } else { root.join(name).display().to_string() }
}
