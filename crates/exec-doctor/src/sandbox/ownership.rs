//! Who owns the files a command creates.

use exec_core::Remedy;

use super::Patient;
use crate::Verdict;

pub(super) async fn check(patient: &Patient<'_>) -> Result<Verdict, Verdict> {
    let result = patient.shell("echo made inside > made").await?;
    let path = patient.workspace.path().join("made");
    let fix =
        || Remedy::engine("share this directory with the engine, and give its user the right to write there");
    // Inspects the entry that a command left, and not the target of a link.
    match std::fs::symlink_metadata(&path) {
        Err(_) if !result.success() => {
            let said = result.stderr.text();
            Ok(Verdict::fails(format!("the workspace can't be written: {}", said.trim()), fix()))
        }
        Err(error) => Ok(Verdict::fails(format!("a file made inside is missing here: {error}"), fix())),
        Ok(made) => Ok(judge(&made, patient)),
    }
}

#[cfg(unix)]
fn judge(made: &std::fs::Metadata, patient: &Patient<'_>) -> Verdict {
    use std::os::unix::fs::MetadataExt;
    let of_workspace = patient.workspace.path().metadata().map(|workspace| workspace.uid());
    let (owner, us) = (made.uid(), rustix::process::geteuid().as_raw());
    match of_workspace {
        Ok(of_workspace) if owner != of_workspace => {
            let found = format!("files made inside belong to user {owner}, the workspace to {of_workspace}");
            Verdict::weak(found, "use an engine that does not map users, or a rootless one of your own")
        }
        _ if owner == us => Verdict::holds(format!("files made inside are yours (user {us})")),
        _ => Verdict::holds(format!("files made inside belong to the user of the command ({owner})")),
    }
}

#[cfg(not(unix))]
fn judge(_: &std::fs::Metadata, _: &Patient<'_>) -> Verdict {
    Verdict::holds("files made inside arrive here")
}
