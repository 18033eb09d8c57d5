//! Where libraries write words that are also flags or commands of agentctl, and why.

use crate::tidy::exception::Exception;

pub(super) const EXCEPTIONS: &[Exception] = &[
    Exception {
        place: "crates/exec-bootstrap/src/app/language.rs",
        uses: &["--offline", "--quiet"],
        why: "flags of Maven, Gradle and pip, in a generated file",
    },
    Exception {
        place: "crates/exec-bootstrap/src/detect/",
        uses: &["--network", "agentctl run"],
        why: "comments in a generated file, which names the command that made it",
    },
    Exception {
        place: "crates/exec-bootstrap/src/detect/java.rs",
        uses: &["--offline"],
        why: "a flag of Gradle, in a generated file",
    },
    Exception {
        place: "crates/exec-bootstrap/src/detect/node/packages.rs",
        uses: &["--config", "--force"],
        why: "flags of npm and pnpm, in a generated file",
    },
    Exception {
        place: "crates/exec-bootstrap/src/header.rs",
        uses: &["agentctl bootstrap-docker", "--base", "--digest"],
        why: "the first lines of a generated file: the command that made it, which is read again",
    },
    Exception {
        place: "crates/exec-bootstrap/src/plan.rs",
        uses: &["--base"],
        why: "a comment in a generated file, about the command in its first lines",
    },
    Exception {
        place: "crates/exec-bootstrap/src/render.rs",
        uses: &["--mount"],
        why: "a flag of an instruction of a Dockerfile",
    },
    Exception {
        place: "crates/exec-config/src/options/",
        uses: &[],
        why: "the table of options, with the flag of each",
    },
    Exception {
        place: "crates/exec-config/src/environment.rs",
        uses: &["agentctl config"],
        why: "a warning about variables that are named after agentctl; it has no remedy of its own yet",
    },
    Exception {
        place: "crates/exec-config/src/found.rs",
        uses: &["agentctl config"],
        why: "a warning about a file that is named after agentctl; it has no remedy of its own yet",
    },
    Exception {
        place: "crates/exec-config/src/template.rs",
        uses: &["agentctl config"],
        why: "the introduction of a generated configuration file",
    },
    Exception {
        place: "crates/exec-container/src/image/build/instructions.rs",
        uses: &["--mount"],
        why: "a flag of an instruction of a Dockerfile",
    },
    Exception {
        place: "crates/exec-container/src/image/build/program.rs",
        uses: &["--version"],
        why: "a flag of Docker and Podman",
    },
    Exception {
        place: "crates/exec-docker/src/diagnose.rs",
        uses: &["--user"],
        why: "a flag of systemctl and journalctl",
    },
    Exception { place: "crates/exec-init/src/main.rs", uses: &["--version"], why: "a flag of exec-init" },
    Exception { place: "crates/exec-podman/src/diagnose.rs", uses: &["--user"], why: "a flag of systemctl" },
];
