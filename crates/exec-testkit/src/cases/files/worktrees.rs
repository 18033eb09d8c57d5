//! Linked worktrees: git works in them, but reaches neither the other worktrees nor files that the host's git
//! executes.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use exec_core::WorkspaceMode;

use crate::case::{Case, Skip, case};
use crate::outside::is_root;
use crate::repository::{Worktrees, git, git_inside, need_git};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(git_works, "R25"),
    case!(git_works_with_relative_pointers, "R25"),
    case!(git_works_for_the_owner, "R24 R25"),
    case!(branches_come_and_go, "R25", HidesFiles),
    case!(a_read_only_worktree_can_be_inspected, "R21 R25", ReadOnlySystem),
    case!(the_repository_keeps_its_orders, "A13 R25", ReadOnlySystem),
    case!(the_worktree_keeps_its_orders, "A13 R25", HidesFiles),
    case!(the_main_worktree_is_hidden, "A1 R25", HidesFiles),
    case!(other_worktrees_are_not_pruned, "R25", HidesFiles),
];

const OTHER_USER: u32 = 12_345;

/// Changes a file and commits it inside; the host sees that commit and nothing else.
async fn commits(ctx: &Ctx, all: &Worktrees) -> Result<()> {
    let (opts, own) = (all.opts(), all.own());
    let seen = async |args: &'static [&'static str], expected: &str| {
        let said = git_inside(ctx, &opts, args).await?;
        ensure!(said.contains(expected), "git {} says {said:?}", args.join(" "));
        anyhow::Ok(())
    };
    let write = ctx.run(&exec_core::Cmd::shell("echo two >> file; echo new > new"), &opts).await?;
    check::exited(&write, 0)?;
    seen(&["status", "--porcelain"], " M file\n?? new").await?;
    seen(&["diff"], "+two").await?;
    ensure!(
        all.git(&own, &["diff"])? == git_inside(ctx, &opts, &["diff"]).await?,
        "the host sees another diff"
    );
    seen(&["add", "."], "").await?;
    seen(&["commit", "-q", "-m", "two"], "").await?;
    seen(&["log", "--format=%s"], "two\none").await?;
    let (inside, outside) =
        (git_inside(ctx, &opts, &["rev-parse", "own"]).await?, all.git(&own, &["rev-parse", "own"])?);
    ensure!(inside == outside, "own is {inside} inside and {outside} outside");
    for dir in [own, all.main(), all.other()] {
        let status = all.git(&dir, &["status", "--porcelain"])?;
        ensure!(status.is_empty(), "the host sees {status:?} in {}", dir.display());
    }
    all.git(&all.main(), &["fsck", "--strict"]).map(drop)
}

/// R25: status, diff, add, commit, log.
async fn git_works(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    commits(&ctx, &Worktrees::new(&ctx)?).await
}

/// R25: as git writes them with `worktree.useRelativePaths`.
async fn git_works_with_relative_pointers(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let all = Worktrees::new(&ctx)?;
    fs::write(all.own().join(".git"), "gitdir: ../main/.git/worktrees/own\n")?;
    fs::write(all.main().join(".git/worktrees/own/gitdir"), "../../../../own/.git\n")?;
    commits(&ctx, &all).await
}

/// R24, R25: for root in another user's worktree, where git refuses files of other owners.
async fn git_works_for_the_owner(ctx: Ctx) -> Result<()> {
    if !is_root() {
        bail!(Skip("only root has worktrees of others".into()));
    }
    need_git(&ctx).await?;
    commits(&ctx, &Worktrees::of(&ctx, Some(OTHER_USER))?).await
}

/// R25: operations that need git's lock files in the repository itself.
async fn branches_come_and_go(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let all = Worktrees::new(&ctx)?;
    all.git(&all.main(), &["branch", "packed"])?;
    all.git(&all.main(), &["pack-refs", "--all"])?;
    let script = "echo two >> file";
    check::exited(&ctx.run(&exec_core::Cmd::shell(script), &all.opts()).await?, 0)?;
    let steps: [&[&str]; 4] =
        [&["stash"], &["branch", "-D", "packed"], &["checkout", "-q", "-b", "next"], &["stash", "pop"]];
    for step in steps {
        git_inside(&ctx, &all.opts(), step).await?;
    }
    let branches = all.git(&all.main(), &["branch", "--format=%(refname:short)"])?;
    ensure!(branches == "main\nnext\nother\nown", "the host has the branches {branches:?}");
    all.git(&all.main(), &["fsck", "--strict"]).map(drop)
}

/// R21, R25
async fn a_read_only_worktree_can_be_inspected(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let all = Worktrees::new(&ctx)?;
    fs::write(all.own().join("file"), "two\n")?;
    let opts = all.opts().with_workspace_mode(WorkspaceMode::ReadOnly { writable: Vec::new() });
    for (args, expected) in
        [(["status", "--porcelain"], " M file"), (["diff", "HEAD"], "+two"), (["log", "--format=%s"], "one")]
    {
        let said = git_inside(&ctx, &opts, &args).await?;
        ensure!(said.contains(expected.trim()), "git {} says {said:?}", args.join(" "));
    }
    let commit = ["commit", "-q", "-a", "-m", "two"];
    let result = ctx.run(&git(&commit), &opts).await?;
    ensure!(result.exit_code().is_some_and(|code| code != 0), "{}", check::describe(&result));
    all.git(&all.own(), &commit).map(drop).context("it can't be committed outside either")
}

/// Writes to these files of the repository: refused inside, possible outside.
async fn are_write_protected(ctx: &Ctx, all: &Worktrees, names: &[&str]) -> Result<()> {
    for control in [false, true] {
        for name in names {
            let path = all.main().join(".git").join(name);
            let args = ["write", path.to_str().context("path")?];
            if control {
                ensure!(ctx.outside(&args)? == "ok", "{name} can't be written outside either");
            } else {
                check::refused(&all.probe(ctx, &args).await?, &["EROFS", "EACCES"])
                    .context((*name).to_owned())?;
            }
        }
    }
    Ok(())
}

/// A13, R25: files that the host's git obeys in every worktree, and those of the other worktrees.
async fn the_repository_keeps_its_orders(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let all = Worktrees::new(&ctx)?;
    fs::create_dir_all(all.main().join(".git/modules/sub"))?;
    let names = [
        "config",
        "config.worktree",
        "commondir",
        "hooks/pre-commit",
        "info/attributes",
        "modules/sub/config",
        "worktrees/new",
        "worktrees/other/HEAD",
        "worktrees/other/commondir",
        "worktrees/other/config.worktree",
    ];
    are_write_protected(&ctx, &all, &names).await
}

/// A13, R25: the worktree can't be pointed to another repository.
async fn the_worktree_keeps_its_orders(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let all = Worktrees::new(&ctx)?;
    let pointer = fs::read(all.own().join(".git"))?;
    let script = "mv .git moved; rm -f .git; echo x > .git; test -f .git && test ! -e moved && echo kept";
    check::printed(&ctx.run(&exec_core::Cmd::shell(script), &all.opts()).await?, "kept")?;
    ensure!(fs::read(all.own().join(".git"))? == pointer, "the pointer is another");
    let names = ["commondir", "gitdir", "config.worktree"].map(|name| format!("worktrees/own/{name}"));
    are_write_protected(&ctx, &all, &names.each_ref().map(String::as_str)).await
}

/// A1, R25: only the repository is visible of the main worktree and the others.
async fn the_main_worktree_is_hidden(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let all = Worktrees::new(&ctx)?;
    for file in [all.main().join("file"), all.other().join("file")] {
        let args = ["read", file.to_str().context("path")?];
        check::refused(&all.probe(&ctx, &args).await?, &["ENOENT"])?;
        ensure!(ctx.outside(&args)?.starts_with("ok"), "it can't be read outside either");
    }
    Ok(())
}

/// R25: although they look abandoned inside. On the host the same command prunes abandoned ones.
async fn other_worktrees_are_not_pruned(ctx: Ctx) -> Result<()> {
    need_git(&ctx).await?;
    let all = Worktrees::new(&ctx)?;
    // Only the other worktree's index refers to this file's contents.
    fs::write(all.other().join("staged"), "staged\n")?;
    all.git(&all.other(), &["add", "staged"])?;
    let prune = ["worktree", "prune", "--expire", "now"];
    let listed = || all.git(&all.main(), &["worktree", "list", "--porcelain"]);
    let before = listed()?;
    let commands: [&[&str]; 3] = [&prune, &["gc", "--prune=now"], &["prune", "--expire", "now"]];
    for command in commands {
        let result = ctx.run(&git(command), &all.opts()).await?;
        ensure!(listed()? == before, "{before} became {}; {}", listed()?, check::describe(&result));
    }
    ensure!(all.git(&all.other(), &["cat-file", "-p", ":staged"])? == "staged", "it lost what it staged");
    fs::rename(all.other(), all.own().with_file_name("gone"))?;
    all.git(&all.main(), &prune)?;
    ensure!(listed()? != before, "nothing is pruned outside either");
    Ok(())
}
