//! A repository in the workspace: the command commits, but can't plant anything for the host's git to
//! execute.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use exec_core::{Cmd, ExecOpts, MountSpec, SessionName, WorkspaceMode};

use crate::case::{Case, Need, Skip, case};
use crate::probe::open_to_all;
use crate::repository::{Worktrees, git, git_inside, git_outside, need_git};
use crate::{Ctx, check, processes};

pub(super) const CASES: &[Case] = &[
    case!(git_hooks_and_config_cannot_be_written, "A13", HidesFiles),
    case!(git_cannot_be_replaced, "A13", HidesFiles),
    case!(git_cannot_be_configured_to_execute, "A13", HidesFiles),
    case!(a_replaced_config_cannot_be_written, "A13", HidesFiles),
    case!(commits_are_on_the_host, "R25"),
    case!(a_planted_pointer_is_not_followed, "A3 A13", HidesFiles),
    case!(a_stolen_pointer_is_not_followed, "A3 A13", HidesFiles),
    case!(a_repository_made_unreadable_keeps_its_orders, "A39", HidesFiles),
    case!(a_repository_closed_to_writing_keeps_its_orders, "A39", HidesFiles),
    case!(a_second_name_of_the_configuration_gives_no_order, "A39", HidesFiles),
    case!(a_repository_in_a_mount_keeps_its_orders, "A39", HidesFiles),
    case!(a_link_in_its_place_is_refused, "A39"),
    case!(a_repository_made_during_a_session_keeps_its_orders, "A39", HidesFiles; Need::Sessions),
    case!(a_repository_made_in_a_session_is_usable, "R25"; Need::Sessions),
    case!(a_forged_repository_is_not_followed, "A44"),
    case!(a_repository_made_inside_is_not_followed, "A44"),
    case!(a_repository_forged_in_another_is_not_followed, "A44", HidesFiles),
    case!(the_place_of_a_worktree_is_not_its_pointer, "A44"),
];

/// Files that the host's git would obey later, whether they existed before or not.
const ORDERS: [&str; 6] = [
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/hooks/pre-commit",
    ".git/info/attributes",
    ".git/worktrees/new",
];

fn repository_by_hand(git: &Path) -> Result<()> {
    for dir in ["hooks", "objects", "refs"] {
        fs::create_dir_all(git.join(dir))?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    Ok(fs::write(git.join("config"), "[core]\n\tbare = false\n")?)
}

/// A13: files that the host's git would execute later.
async fn git_hooks_and_config_cannot_be_written(ctx: Ctx) -> Result<()> {
    repository_by_hand(&ctx.workspace().join(".git"))?;
    for path in ORDERS {
        check::refused(&ctx.inside(&["write", path]).await?, &["EROFS", "EACCES"]).context(path)?;
    }
    check::printed(&ctx.inside(&["write", ".git/objects/new"]).await?, "ok")?;
    for path in ORDERS {
        ensure!(ctx.outside(&["write", path])? == "ok", "{path} can't be written outside either");
    }
    Ok(())
}

/// A13: the repository can't be replaced by another.
async fn git_cannot_be_replaced(ctx: Ctx) -> Result<()> {
    let git = ctx.workspace().join(".git");
    repository_by_hand(&git)?;
    let script = "mv .git moved; rm -rf .git; test -e .git/config && test ! -e moved && echo kept";
    check::printed(&ctx.sh(script).await?, "kept")?;
    fs::rename(&git, ctx.workspace().join("moved")).context("it can't be moved outside either")
}

/// A13: git inside cannot set such an option; git on the host can.
async fn git_cannot_be_configured_to_execute(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    git_outside(ctx.workspace(), None, &["init", "-q"])?;
    let order = ["config", "core.fsmonitor", "./evil"];
    let result = ctx.run(&git(&order), &ctx.opts()).await?;
    ensure!(result.exit_code().is_some_and(|code| code != 0), "{}", check::describe(&result));
    let read = || git_outside(ctx.workspace(), None, &["config", "--get", "core.fsmonitor"]);
    ensure!(read().is_err(), "the host's git has the option");
    git_outside(ctx.workspace(), None, &order)?;
    ensure!(read()? == "./evil", "it can't be set outside either");
    Ok(())
}

/// A13: when the host's git replaces the file, the mount over it disappears. A cell made before that must not
/// be used, not even if a later file happens to reuse the first one's inode number.
async fn a_replaced_config_cannot_be_written(ctx: Ctx) -> Result<()> {
    let git = ctx.workspace().join(".git");
    repository_by_hand(&git)?;
    ctx.executor().warm(&ctx.opts()).await?;
    let first = git.join("config").metadata()?.ino();
    for number in 0..1000 {
        let new = git.join(format!("new-{number}"));
        fs::write(&new, "")?;
        let again = new.metadata()?.ino() == first;
        if again || number == 0 {
            fs::rename(&new, git.join("config"))?;
        }
        if again {
            let result = ctx.inside(&["write", ".git/config"]).await?;
            return check::refused(&result, &["EROFS", "EACCES"]);
        }
    }
    bail!(Skip("this file system does not use numbers again".into()))
}

/// R25: the commit is on the host, and no other file.
async fn commits_are_on_the_host(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    git_outside(ctx.workspace(), None, &["init", "-q", "-b", "main"])?;
    ctx.file(".gitignore", "exec-probe\n")?;
    git_inside(&ctx, &ctx.opts(), &["add", "."]).await?;
    git_inside(&ctx, &ctx.opts(), &["commit", "-q", "-m", "from inside"]).await?;
    let tidied = git_inside(&ctx, &ctx.opts(), &["gc", "-q"]).await?;
    ensure!(tidied.is_empty(), "git gc says {tidied:?}");
    ensure!(git_outside(ctx.workspace(), None, &["log", "--format=%s"])? == "from inside", "another log");
    let status = git_outside(ctx.workspace(), None, &["status", "--porcelain"])?;
    ensure!(status.is_empty(), "the host sees {status:?}");
    git_outside(ctx.workspace(), None, &["fsck", "--strict"]).map(drop)
}

/// A3, A13: a command makes its workspace a worktree of a place it wants to see.
async fn a_planted_pointer_is_not_followed(ctx: Ctx) -> Result<()> {
    let secret = tempfile::tempdir()?;
    open_to_all(secret.path())?;
    let canary = secret.path().join("canary");
    fs::write(&canary, "x")?;
    let script = format!("echo 'gitdir: {}' > .git", secret.path().display());
    check::exited(&ctx.sh(&script).await?, 0)?;
    check::refused_inside_only(&ctx, &["read", canary.to_str().context("path")?], &["ENOENT"]).await
}

/// A3, A13: the pointer of a real worktree, copied to another place.
async fn a_stolen_pointer_is_not_followed(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let victim = Worktrees::new(&ctx)?;
    let head = victim.main().join(".git/HEAD");
    let head = head.to_str().context("path")?;
    let there = victim.probe(&ctx, &["read", head]).await?;
    ensure!(there.stdout.text().starts_with("ok"), "its own worktree does not see it either");
    fs::copy(victim.own().join(".git"), ctx.workspace().join(".git"))?;
    check::refused_inside_only(&ctx, &["read", head], &["ENOENT"]).await
}

/// Runs a script that tries to plant an order for the host's git, and checks that it failed.
async fn gives_no_order(ctx: &Ctx, prepared: &str) -> Result<()> {
    let git = ctx.workspace().join(".git");
    check::exited(&ctx.sh(prepared).await?, 0)?;
    let order =
        "chmod 755 .git; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo x >> .git/config; true";
    // A complete refusal is just as good.
    let _ = ctx.executor().run(&Cmd::shell(order), &ctx.opts()).await;
    fs::set_permissions(&git, PermissionsExt::from_mode(0o755))?;
    ensure!(!fs::read_to_string(git.join("config"))?.contains('x'), "the configuration was written");
    ensure!(!git.join("hooks/pre-commit").exists(), "a hook was written");
    let outside = Command::new("sh").args(["-c", order]).current_dir(ctx.workspace()).status()?;
    ensure!(outside.success() && git.join("hooks/pre-commit").exists(), "the control: nor outside");
    Ok(())
}

/// A39: the first command closes it, the second opens it again.
async fn a_repository_made_unreadable_keeps_its_orders(ctx: Ctx) -> Result<()> {
    repository_by_hand(&ctx.workspace().join(".git"))?;
    gives_no_order(&ctx, "chmod 0 .git").await
}

/// A39: we can't create missing files then, but the command could.
async fn a_repository_closed_to_writing_keeps_its_orders(ctx: Ctx) -> Result<()> {
    let git = ctx.workspace().join(".git");
    fs::create_dir(&git)?;
    fs::write(git.join("config"), "")?;
    fs::set_permissions(&git, PermissionsExt::from_mode(0o555))?;
    gives_no_order(&ctx, "true").await
}

/// A39: a command could write the read-only file through its second name.
async fn a_second_name_of_the_configuration_gives_no_order(ctx: Ctx) -> Result<()> {
    let git = ctx.workspace().join(".git");
    repository_by_hand(&git)?;
    fs::hard_link(git.join("config"), git.join("second"))?;
    let script = "echo x >> .git/second";
    let result = ctx.executor().run(&Cmd::shell(script), &ctx.opts()).await;
    ensure!(!fs::read_to_string(git.join("config"))?.contains('x'), "it was written: {result:?}");
    let outside = Command::new("sh").args(["-c", script]).current_dir(ctx.workspace()).status()?;
    ensure!(outside.success() && fs::read_to_string(git.join("config"))?.contains('x'), "the control");
    Ok(())
}

/// A39: a writable mount at its own path.
async fn a_repository_in_a_mount_keeps_its_orders(ctx: Ctx) -> Result<()> {
    let other = tempfile::tempdir()?;
    open_to_all(other.path())?;
    let git = other.path().join(".git");
    repository_by_hand(&git)?;
    let opts = ctx.opts().with_mount(MountSpec::read_write(other.path()).at("/data"));
    for name in ["config", "hooks/pre-commit"] {
        let inside = format!("/data/.git/{name}");
        check::refused(&ctx.run(&ctx.probe(&["write", &inside]), &opts).await?, &["EROFS", "EACCES"])?;
    }
    check::printed(&ctx.run(&ctx.probe(&["write", "/data/.git/objects/new"]), &opts).await?, "ok")?;
    check::printed(&ctx.run(&ctx.probe(&["write", "/data/new"]), &opts).await?, "ok")
}

/// A39: a link could be replaced by a repository with its own orders, so no command runs next to one.
async fn a_link_in_its_place_is_refused(ctx: Ctx) -> Result<()> {
    check::exited(&ctx.sh("mkdir real && ln -s real .git").await?, 0)?;
    refused_for(&ctx, &ctx.opts(), "is a link").await?;
    let read_only = WorkspaceMode::ReadOnly { writable: Vec::new() };
    check::exited(&ctx.run(&Cmd::new("true"), &ctx.opts().with_workspace_mode(read_only)).await?, 0)
}

async fn refused_for(ctx: &Ctx, opts: &ExecOpts, why: &str) -> Result<()> {
    match ctx.executor().run(&Cmd::new("true"), opts).await {
        Err(error) if error.to_string().contains(why) && error.remedy().is_some() => Ok(()),
        other => bail!("not refused: {other:?}"),
    }
}

/// A39: the session's cell was made before there was a repository to protect. It ends with all its processes,
/// and the session continues in a cell that protects the repository.
async fn a_repository_made_during_a_session_keeps_its_orders(ctx: Ctx) -> Result<()> {
    let session = SessionName::new(ctx.marker());
    let opts = ctx.opts().in_session(session.clone());
    check::printed(&ctx.run(&ctx.probe(&["daemon", ctx.marker()]), &opts).await?, "left behind")?;
    repository_by_hand(&ctx.workspace().join(".git"))?;
    ensure!(!processes::with_marker(ctx.marker()).is_empty(), "the control: nothing runs in the first cell");
    let result = ctx.run(&ctx.probe(&["write", ".git/config"]), &opts).await?;
    processes::ensure_none(ctx.marker())?;
    ensure!(result.outcome.reopened.as_ref().is_some_and(|why| why.contains(".git")), "not said: {result:?}");
    let next = ctx.run(&Cmd::new("true"), &opts).await?;
    ctx.executor().end_session(&session).await?;
    ensure!(next.outcome.reopened.is_none(), "opened twice");
    check::refused(&result, &["EROFS", "EACCES"])
}

/// R25: an agent that creates a repository can work with it.
async fn a_repository_made_in_a_session_is_usable(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let session = SessionName::new(ctx.marker());
    let opts = ctx.opts().in_session(session.clone());
    git_inside(&ctx, &opts, &["init", "-q", "."]).await?;
    git_inside(&ctx, &opts, &["commit", "-q", "--allow-empty", "-m", "first"]).await?;
    ensure!(git_inside(&ctx, &opts, &["log", "--format=%s"]).await? == "first", "another log");
    Ok(ctx.executor().end_session(&session).await?)
}

/// A44: the workspace, arranged as a repository, and a pointer to it in another workspace.
async fn a_forged_repository_is_not_followed(ctx: Ctx) -> Result<()> {
    let forge = "mkdir -p objects refs worktrees/x && echo ref: refs/heads/x > HEAD";
    check::exited(&ctx.sh(forge).await?, 0)?;
    leads_nowhere(&ctx, ctx.workspace()).await
}

/// A44: a repository that a command made with git.
async fn a_repository_made_inside_is_not_followed(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    git_inside(&ctx, &ctx.opts(), &["init", "-q", "made"]).await?;
    leads_nowhere(&ctx, &ctx.workspace().join("made/.git")).await
}

/// A44: in the part of its repository that a linked worktree may write.
async fn a_repository_forged_in_another_is_not_followed(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let all = Worktrees::new(&ctx)?;
    let objects = all.main().join(".git/objects");
    let forge = format!(
        "cd {} && mkdir -p objects refs worktrees/x && echo ref: refs/heads/x > HEAD",
        objects.display()
    );
    check::exited(&ctx.run(&Cmd::shell(&forge), &all.opts()).await?, 0)?;
    let own = tempfile::tempdir()?;
    open_to_all(own.path())?;
    let (admin, pointer) = (objects.join("worktrees/x"), own.path().canonicalize()?.join(".git"));
    let point =
        format!("echo ../.. > {0}/commondir; echo {1} > {0}/gitdir", admin.display(), pointer.display());
    check::exited(&ctx.run(&Cmd::shell(&point), &all.opts()).await?, 0)?;
    let opts = ExecOpts::in_workspace(own.path());
    fs::write(pointer, format!("gitdir: {}\n", admin.display()))?;
    refused_for(&ctx, &opts, "could be a command's work").await?;
    // The worktree itself keeps working.
    check::exited(&ctx.run(&git(&["status"]), &all.opts()).await?, 0)
}

/// A44: a repository still names a worktree that was removed by hand, and a workspace now has that path.
async fn the_place_of_a_worktree_is_not_its_pointer(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let all = Worktrees::new(&ctx)?;
    let pointer = fs::read_to_string(all.own().join(".git"))?;
    fs::remove_dir_all(all.own())?;
    fs::create_dir(all.own())?;
    open_to_all(&all.own())?;
    let plant = format!("echo '{}' > .git", pointer.trim_end());
    let opts = ExecOpts::in_workspace(all.own());
    check::exited(&ctx.run(&Cmd::shell(&plant), &opts).await?, 0)?;
    refused_for(&ctx, &opts, "could be a command's work").await
}

/// Makes a directory a linked worktree of this repository; a command in the workspace writes the repository's
/// side. As a control, the same pointers to a repository that no command could have written are followed.
async fn leads_nowhere(ctx: &Ctx, repository: &Path) -> Result<()> {
    let other = tempfile::tempdir()?;
    open_to_all(other.path())?;
    let place = other.path().canonicalize()?;
    let own = place.join("own");
    fs::create_dir(&own)?;
    open_to_all(&own)?;
    let opts = ExecOpts::in_workspace(&own);
    let point = |repository: &Path| {
        let (admin, pointer) = (repository.join("worktrees/x"), own.join(".git"));
        fs::write(&pointer, format!("gitdir: {}\n", admin.display()))?;
        Ok::<_, std::io::Error>(format!(
            "mkdir -p {admin}; echo ../.. > {admin}/commondir; echo {pointer} > {admin}/gitdir",
            admin = admin.display(),
            pointer = pointer.display()
        ))
    };
    check::exited(&ctx.sh(&point(&repository.canonicalize()?)?).await?, 0)?;
    refused_for(ctx, &opts, "could be a command's work").await?;

    let innocent = place.join("innocent.git");
    let script = format!(
        "mkdir -p {0}/objects {0}/refs; echo ref: x > {0}/HEAD; {1}",
        innocent.display(),
        point(&innocent)?
    );
    ensure!(Command::new("sh").args(["-c", &script]).status()?.success());
    let seen = Cmd::new("test").args(["-e"]).arg(innocent.join("HEAD"));
    check::exited(&ctx.run(&seen, &opts).await?, 0).context("the control")
}
