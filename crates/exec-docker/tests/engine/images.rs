//! Images that exist, are missing, or are removed.

use anyhow::{Context, Result, ensure};
use bollard::query_parameters::RemoveImageOptionsBuilder;
use exec_core::{Cmd, ErrorKind, ExecOpts, Executor};

use crate::support::{engine, ensure_nothing_is_left, executor, workspace};

fn on(dir: &tempfile::TempDir, image: &str) -> ExecOpts {
    let mut opts = ExecOpts::in_workspace(dir.path());
    opts.image = Some(image.to_owned());
    opts
}

/// F6: a removed image under a name of ours is reported as removed.
pub(crate) async fn removed_and_made_again() -> Result<()> {
    let dir = workspace(1000)?;
    let engine = engine()?;
    let odd = exec_testkit::odd_image("docker")?;
    let tag = bollard::query_parameters::TagImageOptionsBuilder::default()
        .repo("exec-test/short-lived")
        .tag("1")
        .build();
    engine.tag_image(odd, Some(tag)).await?;
    let executor = executor(0).await?;
    let opts = on(&dir, "exec-test/short-lived:1");
    ensure!(executor.run(&Cmd::new("true"), &opts).await?.success(), "with the image");
    ensure_nothing_is_left(dir.path()).await?;
    let options = RemoveImageOptionsBuilder::default().force(false).build();
    engine.remove_image("exec-test/short-lived:1", Some(options), None).await?;
    let error = executor.run(&Cmd::new("true"), &opts).await.err().context("it ran")?;
    ensure!(error.kind() == ErrorKind::ImageNotFound, "{error}");
    ensure!(error.to_string().contains("exec-test/short-lived:1"), "{error}");
    Ok(())
}

/// R77
pub(crate) async fn a_missing_image_is_named() -> Result<()> {
    let dir = workspace(1000)?;
    let opts = on(&dir, "localhost:1/no-such-image:7");
    let error = executor(0).await?.run(&Cmd::new("true"), &opts).await.err().context("it ran")?;
    ensure!(error.kind() == ErrorKind::ImageNotFound, "{error}");
    ensure!(error.to_string().contains("`localhost:1/no-such-image:7`"), "{error}");
    ensure!(
        error.remedy().is_some_and(|remedy| remedy.to_string().contains("option `image`")),
        "{:?}",
        error.remedy()
    );
    Ok(())
}

/// R77
pub(crate) async fn a_missing_program_is_named() -> Result<()> {
    let dir = workspace(1000)?;
    let opts = on(&dir, exec_testkit::odd_image("docker")?);
    let error = executor(0).await?.run(&Cmd::new("python3"), &opts).await.err().context("it ran")?;
    ensure!(error.kind() == ErrorKind::ProgramNotFound && error.to_string().contains("python3"), "{error}");
    Ok(())
}

/// R70: an image's variables apply; its user, directory and entry point do not.
pub(crate) async fn its_digest_and_variables_are_used() -> Result<()> {
    let dir = workspace(1000)?;
    let image = exec_testkit::odd_image("docker")?;
    let result = executor(0).await?.run(&Cmd::shell("echo $ODD; id -u; pwd"), &on(&dir, image)).await?;
    let expected = format!("yes\n1000\n{}\n", dir.path().canonicalize()?.display());
    ensure!(result.stdout.text() == expected, "{}", result.stdout.text());
    ensure!(result.outcome.isolation.image.as_deref() == Some(image), "{:?}", result.outcome.isolation.image);
    Ok(())
}
