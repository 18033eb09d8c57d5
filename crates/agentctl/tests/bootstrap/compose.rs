//! `--compose` on an engine: the generated scripts start a small server, query it, stop it and start it
//! again.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Result, ensure};

use crate::base;
use crate::support::Place;
use crate::tools::{docker, tool};

/// Counts its starts in a file that must last, and reports which paths it can write.
const SERVER: &str = r#"package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	was, _ := os.ReadFile("/app/data/starts")
	if err := os.WriteFile("/app/data/starts", append(was, 'x'), 0o600); err != nil {
		panic(err)
	}
	if os.WriteFile("/app/config/x", nil, 0o600) == nil || os.WriteFile("/usr/x", nil, 0o600) == nil {
		panic("it can write a read-only path")
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "up") })
	http.ListenAndServe(":"+os.Getenv("PORT"), nil)
}
"#;

/// Everything that belongs to the project, removed with the test.
struct Project<'a> {
    place: &'a Place,
    name: String,
    path: std::ffi::OsString,
}

impl Project<'_> {
    fn script(&self, name: &str, arguments: &[&str]) -> Result<Output> {
        let mut script = Command::new(self.place.path().join("scripts").join(name));
        script.args(arguments).env("PATH", &self.path).env("COMPOSE_PROJECT_NAME", &self.name);
        // Any free port of this machine.
        Ok(script.env("APP_PORT", "0").env("DEBUG_PORT", "0").output()?)
    }

    fn docker(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new("docker").env("PATH", &self.path).args(arguments).output()?;
        ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn containers(&self) -> Result<String> {
        self.docker(&["ps", "-aq", "--filter", &format!("label=com.docker.compose.project={}", self.name)])
    }

    fn starts(&self) -> Result<usize> {
        let container = self.containers()?;
        Ok(self.docker(&["exec", &container, "cat", "/app/data/starts"])?.len())
    }
}

impl Drop for Project<'_> {
    fn drop(&mut self) {
        let _ = self.script("emergency-stop.sh", &[]);
        for volume in ["data", "workspace"] {
            let _ = self.docker(&["volume", "rm", &format!("{}_{volume}", self.name)]);
        }
        for image in [self.name.clone(), format!("{}-dev", self.name)] {
            let _ = self.docker(&["rmi", &image]);
        }
    }
}

fn ok(output: &Output) -> Result<()> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ensure!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    Ok(())
}

/// R23, R74: it becomes healthy, its data lasts, its configuration is read-only, and stopping it leaves
/// nothing behind.
pub(crate) async fn an_application_comes_and_goes() -> Result<()> {
    tool("docker-compose")?;
    base::stand_in()?;
    let docker = docker().map_err(anyhow::Error::msg)?;
    let place = Place::new();
    place.file("go.mod", "module example.com/hello\n\ngo 1.22\n");
    place.file("main.go", SERVER);
    ok(&place.output(["bootstrap-docker", "--compose"]))?;
    ok(&place.output(["bootstrap-docker", "--check"]))?;
    // The scripts take the first `docker` on `PATH`; here that must be one that builds with BuildKit.
    let first = docker.parent().unwrap_or(Path::new("/usr/bin")).to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(first).chain(std::env::split_paths(&others)))?;
    let project = Project { name: format!("agentctl-test-{}", std::process::id()), place: &place, path };
    fs::create_dir(place.path().join("config"))?;

    ok(&project.script("docker-build.sh", &["prod"])?)?;
    ok(&project.script("docker-start.sh", &["prod"])?)?;
    let container = project.containers()?;
    ensure!(
        project.docker(&["inspect", "-f", "{{.State.Health.Status}}", &container])? == "healthy",
        "{container}"
    );
    let held = project.docker(&["inspect", "-f", "{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.Memory}} {{.HostConfig.RestartPolicy.Name}} {{.Config.User}}", &container])?;
    ensure!(held == "true 1073741824 unless-stopped 1000:1000", "{held}");
    ensure!(project.starts()? == 1, "it was started once");
    ok(&project.script("docker-stop.sh", &[])?)?;
    ensure!(project.containers()?.is_empty(), "it left {}", project.containers()?);
    ok(&project.script("docker-start.sh", &["prod"])?)?;
    ensure!(project.starts()? == 2, "files in /app/data last");
    ok(&project.script("emergency-stop.sh", &[])?)?;
    ensure!(project.containers()?.is_empty(), "the emergency stop left {}", project.containers()?);
    Ok(())
}
