//! The emergency stop of a project with generated compose files, which supports Docker only.

use anyhow::{Result, ensure};
use exec_testkit::{EngineTest, engine_test};

use crate::private::Private;
use crate::sample::layer;
use crate::support::{Place, said};

pub(crate) const ALL: [EngineTest; 1] =
    [engine_test!(labels_of_an_image_make_no_container_the_projects, "R14 A37")];

/// R14, A37: an image passes its labels on to the containers made from it; such a container still belongs to
/// someone else. Compose labels the images it builds, and a commit keeps every label.
async fn labels_of_an_image_make_no_container_the_projects() -> Result<()> {
    let (engine, place, files) = (Private::start()?, Place::new(), tempfile::tempdir()?);
    place.file("go.mod", "module example.com/hello\n\ngo 1.22\n");
    place.file("main.go", "package main\n\nfunc main() {}\n");
    let output = place.output(["bootstrap-docker", "--compose"]);
    ensure!(output.status.success(), "{}", said(&output));
    layer(files.path(), "layer.tar")?;
    let layer = files.path().join("layer.tar").display().to_string();
    let label = |name: &str, value: &str| format!("LABEL com.docker.compose.{name}={value}");
    let changes = [label("project", "hello"), label("service", "app"), label("container-number", "1")];
    let changes = changes.iter().flat_map(|change| ["--change", change]);
    let import: Vec<&str> = ["import"].into_iter().chain(changes).chain([&*layer, "inherits:1"]).collect();
    engine.tell(&import)?;
    engine
        .tell(&["network", "create", "--driver", "null", "hello_default"])
        .or_else(|_| engine.tell(&["network", "create", "hello_default"]))?;
    // A second line of a label must not be read as the name of a network.
    let forged = "com.docker.compose.service=app\n/hello_app_2 ,hello_default,";
    for (name, options) in [
        ("stranger", &[][..]),
        ("hello-debug", &[]),
        ("second", &["--label", forged]),
        ("hello_app_1", &[]),
        ("hello-app-1", &[]),
        ("hello-app-run-0123456789ab", &[]),
        ("renamed", &["--network", "hello_default"]),
    ] {
        let create = ["create", "--name", name].into_iter().chain(options.iter().copied());
        engine.tell(&create.chain(["inherits:1", "/none"]).collect::<Vec<_>>())?;
    }
    let script = place.path().join("scripts/emergency-stop.sh").display().to_string();
    let output = engine.program(&place, &script).env("COMPOSE_PROJECT_NAME", "hello").output()?;
    ensure!(output.status.success(), "{}", said(&output));
    let left = engine.tell(&["ps", "--all", "--format", "{{.Names}}"])?;
    let mut left: Vec<&str> = left.lines().collect();
    left.sort_unstable();
    ensure!(left == ["hello-debug", "second", "stranger"], "{left:?} {}", said(&output));
    for name in left {
        ensure!(said(&output).contains(name), "untouched containers are reported: {}", said(&output));
    }
    Ok(())
}
