//! The report of `agentctl doctor` as text.

use std::fmt::Write;

use exec_core::{Remedy, printable};
use exec_doctor::{Check, Chosen, Report, Sandbox, State, Verdict};

/// The whole report.
pub(crate) fn render(report: &Report) -> String {
    let mut text = String::new();
    for sandbox in &report.sandboxes {
        sandbox_section(&mut text, sandbox);
    }
    if !report.host_checks.is_empty() {
        line(&mut text, "this machine");
        for check in &report.host_checks {
            check_lines(&mut text, check);
        }
        text.push('\n');
    }
    line(&mut text, &conclusion(report));
    text
}

fn sandbox_section(text: &mut String, sandbox: &Sandbox) {
    match &sandbox.state {
        State::Present { isolation, engine, checks } => {
            let engine =
                engine.as_ref().map_or_else(String::new, |engine| format!(", {engine} at {}", engine.at));
            let state = if sandbox.works() { "works" } else { "does not work" };
            line(text, &format!("{}: {state} (isolation {isolation}{engine})", sandbox.name));
            for check in checks {
                check_lines(text, check);
            }
        }
        State::Missing { reason, fix } => {
            line(text, &format!("{}: can't be used", sandbox.name));
            entry(text, "no", "", reason, Some(fix));
        }
    }
    text.push('\n');
}

fn check_lines(text: &mut String, check: &Check) {
    match &check.verdict {
        Verdict::Holds { found } => entry(text, "ok", check.name, found, None),
        Verdict::Weak { found, fix } => entry(text, "weak", check.name, found, Some(fix)),
        Verdict::Fails { found, fix } => entry(text, "FAIL", check.name, found, Some(fix)),
        Verdict::NotTried { why } => entry(text, "?", check.name, &format!("not tried: {why}"), None),
    }
}

fn entry(text: &mut String, mark: &str, name: &str, found: &str, fix: Option<&Remedy>) {
    line(text, &format!("  {mark:<5} {name:<14} {}", printable::line(found)));
    if let Some(fix) = fix {
        line(text, &format!("  {:<5} {:<14} try: {}", "", "", printable::line(&fix.to_string())));
    }
}

fn conclusion(report: &Report) -> String {
    match &report.chosen {
        Chosen::Sandbox { name, fallback, .. } => {
            let second = if *fallback { ", as second best" } else { "" };
            let verdict = if report.works() { "which works" } else { "which does not work" };
            format!("`agentctl run` takes {name}{second}, {verdict}.")
        }
        Chosen::Nothing { reason, fix } => format!("`agentctl run` would be refused: {reason}\n  try: {fix}"),
    }
}

/// Writing to a string can't fail.
fn line(text: &mut String, line: &str) {
    let _ = writeln!(text, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use exec_core::{EngineInfo, IsolationLevel};
    use exec_doctor::Host;

    use super::*;

    fn check(name: &'static str, verdict: Verdict) -> Check {
        Check { name, verdict }
    }

    fn report(stop: Verdict, chosen: Chosen) -> Report {
        let engine = EngineInfo {
            make: "Docker".into(),
            version: "28.1".into(),
            at: "unix:///run/docker.sock".into(),
        };
        let checks = vec![
            check("cell", Verdict::Holds { found: "made".into() }),
            check("limits", Verdict::Weak { found: "memory does not hold".into(), fix: "delegate".into() }),
            check("git worktree", Verdict::NotTried { why: "git is not installed".into() }),
            check("stop", stop),
        ];
        let isolation = IsolationLevel::Container;
        let present = State::Present { isolation, engine: Some(engine), checks };
        let missing = State::Missing { reason: "Podman is not installed".into(), fix: "install it".into() };
        Report {
            chosen,
            sandboxes: vec![
                Sandbox { name: "docker".into(), state: present },
                Sandbox { name: "podman".into(), state: missing },
            ],
            host: Host::default(),
            host_checks: vec![check("WSL", Verdict::Holds { found: "WSL 2".into() })],
        }
    }

    fn takes_docker() -> Chosen {
        Chosen::Sandbox { requested: "auto".into(), name: "docker".into(), fallback: false }
    }

    /// R65
    #[test]
    fn a_report_for_people() {
        let fine = report(Verdict::Holds { found: "dead".into() }, takes_docker());
        assert!(fine.works());
        insta::assert_snapshot!(render(&fine));
        let broken = report(Verdict::Fails { found: "alive".into(), fix: "tell us".into() }, takes_docker());
        assert!(!broken.works());
        let shown = render(&broken);
        assert!(shown.contains("docker: does not work"), "{shown}");
        assert!(shown.ends_with("takes docker, which does not work.\n"), "{shown}");
        let nothing = Chosen::Nothing { reason: "no sandbox can be used".into(), fix: "install one".into() };
        let refused = report(Verdict::Holds { found: "dead".into() }, nothing);
        assert!(!refused.works());
        assert!(render(&refused).ends_with("refused: no sandbox can be used\n  try: install one\n"));
    }
}
