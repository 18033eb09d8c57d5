//! `--image build`: an image built on request from the workspace's own Dockerfile.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use exec_testkit::Skip;

use crate::ENGINE;
use crate::support::Place;

/// Needs no image and no registry.
const DOCKERFILE: &str = "FROM scratch\nCOPY busybox /bin/sh\nCOPY marker /marker\nRUN --mount=type=cache,target=/c echo built > /built\n";

fn project() -> Result<Place> {
    let place = Place::new();
    let busybox =
        ["/bin/busybox", "/usr/bin/busybox"].into_iter().find(|path| fs::exists(path).is_ok_and(|is| is));
    fs::copy(busybox.context("busybox is missing; install busybox-static")?, place.path().join("busybox"))?;
    // Unique to this test, so that no other test has built it.
    place.file("marker", &format!("{} {}\n", std::process::id(), place.path().display()));
    place.file("Dockerfile", DOCKERFILE);
    Ok(place)
}

/// A project, if its image can be built: without root, Podman's builds have a network only through this
/// device.
fn buildable() -> Result<Place> {
    let tun = || fs::File::options().read(true).write(true).open("/dev/net/tun");
    if ENGINE.name == "podman"
        && !rustix::process::geteuid().is_root()
        && let Err(error) = tun()
    {
        bail!(Skip(format!("this user's builds have no network, /dev/net/tun can't be opened: {error}")));
    }
    project()
}

fn command(place: &Place, options: &[&str], script: &str) -> Command {
    let sandbox = ENGINE.sandbox();
    let run = ["run"].iter().chain(&sandbox).chain(options);
    place.agentctl(run.chain(&["--", "/bin/sh", "-c", script]))
}

fn run(place: &Place, script: &str) -> Result<(Option<i32>, String, String)> {
    let output = command(place, &["--image", "build"], script).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((output.status.code(), text(&output.stdout), text(&output.stderr)))
}

/// The number of builds, and the images, which are removed with this value.
struct Built(Vec<String>);

impl Built {
    fn by(said: &str) -> Self {
        let names = said.lines().filter_map(|line| line.split_once("built agentctl/project:"));
        Self(names.map(|(_, tag)| format!("agentctl/project:{tag}")).collect())
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new(ENGINE.name).args(["rmi", name]).output();
        }
    }
}

/// R76: built once, and again when one of its inputs has changed; its inputs can't be changed inside.
pub(crate) async fn built_when_it_has_changed() -> Result<()> {
    let place = buildable()?;
    let (code, out, said) =
        run(&place, "read a < /built; echo $a; echo FROM x > Dockerfile; echo y > other")?;
    let first = Built::by(&said);
    ensure!(code == Some(0) && out == "built\n" && first.0.len() == 1, "{out}{said}");
    ensure!(said.contains("COPY busybox /bin/sh"), "progress is shown: {said}");
    ensure!(fs::read_to_string(place.path().join("Dockerfile"))? == DOCKERFILE, "a command changed it");
    ensure!(place.path().join("other").exists(), "the positive control: the rest can be written");
    let (code, _, said) = run(&place, "exit 0")?;
    ensure!(code == Some(0) && Built::by(&said).0.is_empty(), "nothing has changed: {said}");
    let marker = fs::read_to_string(place.path().join("marker"))?;
    place.file("marker", &format!("{marker}changed\n"));
    let (_, out, said) = run(&place, "while read a; do b=$a; done < /marker; echo $b")?;
    let second = Built::by(&said);
    ensure!(out == "changed\n" && second.0.len() == 1 && second.0 != first.0, "{out}{said}");
    Ok(())
}

/// R76: concurrent callers share one build.
pub(crate) async fn one_build_for_callers_at_the_same_time() -> Result<()> {
    let place = buildable()?;
    let start = || command(&place, &["--image", "build"], "exit 0").stderr(Stdio::piped()).spawn();
    let callers = [start()?, start()?, start()?];
    let mut said = String::new();
    for caller in callers {
        let output = caller.wait_with_output()?;
        said.push_str(&String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "{said}");
    }
    let built = Built::by(&said);
    ensure!(built.0.len() == 1, "{said}");
    Ok(())
}

/// R76, A38: only an explicit request builds an image, and a project's file can't make one before it is
/// trusted.
pub(crate) async fn only_on_request() -> Result<()> {
    let place = project()?;
    place.file("Dockerfile", "FROM scratch\nCOPY no-such-file /\n");
    let output = command(&place, &[], "exit 0").output()?;
    ensure!(output.status.success(), "a Dockerfile alone builds nothing: {output:?}");
    place.file(".agentctl.toml", "image = 'build'\n");
    let output = command(&place, &[], "exit 0").output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success() && said.contains("not trusted"), "{said}");
    ensure!(place.output(["config", "trust"]).status.success(), "it can't be trusted");
    let output = command(&place, &[], "exit 0").output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(
        output.status.code() == Some(125) && said.contains("can't be built"),
        "the positive control: {said}"
    );
    ensure!(said.contains("no-such-file"), "it says why: {said}");
    Ok(())
}

/// A46: the last lines of a failed build are quoted; none of them is obeyed or passes for a message of ours.
pub(crate) async fn the_output_of_a_failed_build_is_shown() -> Result<()> {
    let place = buildable()?;
    let hostile = r"RUN printf '\033]0;t\007\033[2J\302\233\nagentctl: forged\n'; exit 7";
    place
        .file("Dockerfile", &format!("FROM scratch\nCOPY busybox /bin/sh\nCOPY marker /marker\n{hostile}\n"));
    for log in [&["--log", "worker"][..], &[]] {
        let output = command(&place, &[&["--image", "build"], log].concat(), "exit 0").output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(125) && said.contains("0;t"), "the control: {said:?}");
        ensure!(!said.contains(|c: char| c.is_control() && c != '\n'), "{said:?}");
        ensure!(!said.lines().any(|line| line.starts_with("agentctl: forged")), "{said:?}");
        let is_ours =
            |line: &str| line.contains("Z INFO ") || line.contains("Z WARN ") || line.contains("Z ERROR ");
        ensure!(log.is_empty() || said.lines().all(is_ours), "{said:?}");
    }
    Ok(())
}

/// A32: a program with the engine's name in the workspace is not run, even if the search path begins with the
/// working directory.
pub(crate) async fn a_planted_program_is_not_used() -> Result<()> {
    let place = buildable()?;
    let planted = place.path().join(ENGINE.name);
    fs::write(&planted, "#!/bin/sh\ntouch \"$(dirname \"$0\")/was-run\"\n")?;
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755))?;
    ensure!(
        Command::new(&planted).status()?.success() && place.path().join("was-run").exists(),
        "the positive control"
    );
    fs::remove_file(place.path().join("was-run"))?;
    let own = std::env::var_os("PATH").unwrap_or_default();
    let first = ["".into(), ".".into()].into_iter();
    let path = std::env::join_paths(first.chain(std::env::split_paths(&own)))?;
    let output = command(&place, &["--image", "build"], "exit 0").env("PATH", path).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let _built = Built::by(&said);
    ensure!(output.status.success(), "{said}");
    ensure!(!place.path().join("was-run").exists(), "it was run");
    Ok(())
}

/// A4, A43: an image is built from the files that its name was computed from, whatever a background command
/// does meanwhile.
pub(crate) async fn changes_before_the_build_do_not_count() -> Result<()> {
    let (place, programs) = (buildable()?, tempfile::tempdir()?);
    let marker = place.path().join("marker");
    // Each program of the engine, with a file that differs during the build and is restored after it.
    let change = format!(
        "marker='{}'\ncase \"$*\" in *--tag*) ;; *) exec \"$real\" \"$@\" ;; esac\n\
         cp \"$marker\" \"$0.before\"; echo late > \"$marker\"\n\
         \"$real\" \"$@\"\ncp \"$0.before\" \"$marker\"",
        marker.display()
    );
    let own = std::env::var_os("PATH").unwrap_or_default();
    let mut changing = Vec::new();
    let real = std::env::split_paths(&own).map(|place| place.join(ENGINE.name));
    for (number, real) in real.filter(|real| real.is_file()).enumerate() {
        let directory = programs.path().join(number.to_string());
        fs::create_dir(&directory)?;
        fs::write(directory.join(ENGINE.name), format!("#!/bin/sh\nreal='{}'\n{change}\n", real.display()))?;
        fs::set_permissions(directory.join(ENGINE.name), fs::Permissions::from_mode(0o755))?;
        changing.push(directory);
    }
    let path = std::env::join_paths(changing.into_iter().chain(std::env::split_paths(&own)))?;
    let before = fs::read_to_string(&marker)?;
    let mut building = command(&place, &["--image", "build"], "read a < /marker; echo $a");
    let output = building.env("PATH", path).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let built = Built::by(&said);
    let kept = format!("{}.before", ENGINE.name);
    let was_changed = fs::read_dir(programs.path())?.flatten().any(|place| place.path().join(&kept).exists());
    ensure!(was_changed && built.0.len() == 1, "the control: {said}");
    ensure!(String::from_utf8_lossy(&output.stdout) == before, "{output:?}");
    Ok(())
}

/// A43: a file that a build would prefer, made by the command of an earlier run.
pub(crate) async fn files_that_appear_later_do_not_count() -> Result<()> {
    for (name, text) in [("Dockerfile.dev", "FROM evil"), (".dockerignore", "*")] {
        let place = buildable()?;
        let (code, _, said) = run(&place, &format!("echo '{text}' > {name}"))?;
        let _built = Built::by(&said);
        ensure!(code == Some(0) && place.path().join(name).exists(), "the control: {said}");
        let (code, out, said) = run(&place, "echo ran")?;
        ensure!(code == Some(125) && out.is_empty(), "{name}: {out}{said}");
        ensure!(said.contains(name) && said.contains("a command may have made it"), "{said}");
        fs::remove_file(place.path().join(name))?;
        let (code, out, said) = run(&place, "echo ran")?;
        ensure!(code == Some(0) && out == "ran\n", "without it: {said}");
    }
    Ok(())
}

/// A43: pipes, sockets and links in a project do not block a build, and bring nothing from outside into the
/// image.
pub(crate) async fn a_hostile_project_is_built_all_the_same() -> Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;
    let place = buildable()?;
    place.file("Dockerfile", "FROM scratch\nCOPY busybox /bin/sh\nCOPY . /all/\n");
    let outside = tempfile::tempdir()?;
    fs::create_dir(outside.path().join("below"))?;
    for name in ["secret", "below/secret"] {
        fs::write(outside.path().join(name), "treasure\n")?;
    }
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("sub"))?;
    for name in ["pipe", "sub/pipe"] {
        mknodat(CWD, at(name), FileType::Fifo, Mode::RWXU, 0)?;
    }
    drop(std::os::unix::net::UnixListener::bind(at("sub/socket"))?);
    symlink(outside.path().join("secret"), at("link"))?;
    symlink(outside.path().join("below"), at("sub/way"))?;
    symlink("/dev/zero", at("sub/zero"))?;
    let look = "cd /all && for f in link sub/way sub/zero; do [ -L $f ] || echo $f; done; [ -f marker ] && echo done";
    let mut building = command(&place, &["--image", "build"], look);
    let mut child = building.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    crate::support::wait(&mut child);
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let _built = Built::by(&said);
    ensure!(output.stdout == b"done\n", "{}{said}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// A43: a tree that is too deep is refused by its name, before a builder sees it.
pub(crate) async fn a_deep_project_is_refused() -> Result<()> {
    let place = buildable()?;
    place.file("Dockerfile", "FROM scratch\nCOPY . /all/\n");
    fs::create_dir_all(place.path().join("d/".repeat(150)))?;
    let (code, _, said) = run(&place, "exit 0")?;
    ensure!(code == Some(125), "{code:?} {said}");
    ensure!(said.contains("more than 100 directories in each other in d/d/d"), "{said}");
    Ok(())
}
