//! `agentctl bootstrap-docker`: shows, checks or writes the files that `exec-bootstrap` generates for a
//! project.

use std::collections::BTreeMap;
use std::path::Path;

use agent_exec::{Backends, control};
use exec_bootstrap::{Existing, Outcome, Plan, Project, Scope, Standing, Wishes};
use exec_core::{Error, Result};

use super::print;
use crate::args::BootstrapArgs;
use crate::exit_code;
use crate::output::{Line, Voice, say, table};

/// Runs the command and returns its exit status.
pub(crate) async fn bootstrap(args: &BootstrapArgs) -> Result<u8> {
    let root = args.path.as_deref().unwrap_or(Path::new("."));
    let project = Project::open(root)?;
    let tree = project.read()?;
    let mut wishes = wishes(args, &project)?;
    let in_project = |error: Error| match &args.path {
        Some(path) => error.with_context("project", path.display()),
        None => error,
    };
    if args.digest {
        wishes.digests = None;
        let plan = Plan::of(&tree, &wishes).map_err(in_project)?;
        let images = plan.images().into_iter().map(str::to_owned).collect();
        wishes.digests = Some(control::images::digests(&Backends::default(), &images).await?);
    }
    let plan = Plan::of(&tree, &wishes).map_err(in_project)?;
    if args.explain {
        return explain(&plan);
    }
    plan.warnings().iter().for_each(|warning| say(Voice::Person, &Line::warn(warning)));
    if args.stdout {
        show(&plan)
    } else if args.check {
        check(root, &project, &plan)
    } else {
        write(root, &project, &plan, if args.force { Existing::Replace } else { Existing::Keep })
    }
}

/// The options of the command line, completed by those that the existing files were made with; the latter are
/// shown.
fn wishes(args: &BootstrapArgs, project: &Project) -> Result<Wishes> {
    let asked = Wishes {
        base: args.base.clone(),
        agents: args.with_cli.iter().cloned().collect(),
        scope: if args.compose { Scope::Compose } else { Scope::Image },
        // An engine provides them, once the images are known.
        digests: args.digest.then(BTreeMap::new),
    };
    let Some(made_with) = project.remembered()? else { return Ok(asked) };
    let added = made_with.added_to(&asked);
    let wishes = made_with.complete(asked)?;
    if !added.is_empty() {
        say(
            Voice::Person,
            &Line::info(format!("{} was generated with {added}: used again", made_with.file())),
        );
    }
    Ok(wishes)
}

/// A single file without a header, several each after its name.
fn show(plan: &Plan) -> Result<u8> {
    if plan.scope() == Scope::Image {
        return print(plan.dockerfile().as_bytes());
    }
    let texts: Vec<String> =
        plan.files().iter().map(|file| format!("==> {} <==\n{}", file.path, file.text)).collect();
    print(texts.join("\n").as_bytes())
}

fn explain(plan: &Plan) -> Result<u8> {
    let reasons = plan.reasons().iter().map(|reason| [reason.what.clone(), reason.why.clone()]);
    let notes = plan.warnings().iter().map(|warning| ["NOTE".to_owned(), warning.clone()]);
    print(table(&["WHAT", "WHY"], reasons.chain(notes)).as_bytes())
}

fn check(root: &Path, project: &Project, plan: &Plan) -> Result<u8> {
    let again = "run `agentctl bootstrap-docker` here without --check";
    let mut code = 0;
    let first = plan.files().first().map(|file| file.path);
    for (name, standing) in project.check(plan)? {
        let path = place(root, name);
        let (what, remedy) = match standing {
            Standing::Current => continue,
            // It stays when files are written, so it is not an error.
            Standing::HandWritten if Some(name) != first => continue,
            Standing::Missing => (format!("{path} is missing"), again),
            Standing::Stale => {
                (format!("{path} is stale: it differs from what would be generated now"), again)
            }
            Standing::HandWritten => {
                (format!("{path} was not generated, so it can't be checked"), "compare it with --stdout")
            }
        };
        code = exit_code::STALE;
        say(Voice::Person, &Line::error(what).with_remedy(remedy));
    }
    Ok(code)
}

fn write(root: &Path, project: &Project, plan: &Plan, existing: Existing) -> Result<u8> {
    let written = project.write(plan, existing)?;
    let generated = written.iter().filter(|(_, outcome)| *outcome != Outcome::Kept).map(|(name, _)| *name);
    exec_core::accept_build_files(root, &generated.collect::<Vec<_>>())?;
    for (name, outcome) in written {
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

/// The path as a user names a file in the current directory.
fn place(root: &Path, name: &str) -> String {
    if root == Path::new(".") { name.to_owned() } else { root.join(name).display().to_string() }
}
