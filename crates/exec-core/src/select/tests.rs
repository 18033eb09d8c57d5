//! A table: candidates × request × flags × environment → choice, or refusal with its reason.

use std::collections::BTreeSet;

use rstest::rstest;

use super::*;
use crate::{Capabilities, ExecOpts, Network, SessionName, WindowSize};

/// One candidate: a name and its state. `=` works, `~` works without terminals and sessions, `!` is missing, `?` was not
/// tried; after a `-`, the variable that rules it out.
fn candidate(word: &str) -> Candidate {
    let (word, ruled_out) = match word.split_once('-') {
        Some((word, by)) => (word, Some(by.to_owned())),
        None => (word, None),
    };
    let (name, state) = word.split_at(word.find(['=', '~', '!', '?', '<', '>']).unwrap());
    let missing = || Availability::Missing {
        reason: format!("{name} is down"),
        remedy: format!("start {name}").into(),
    };
    let container = name != "local";
    let capabilities = |level, has_all: bool| {
        Availability::Ready(Capabilities {
            level,
            claims: BTreeSet::new(),
            tty: has_all,
            sessions: has_all,
            images: container,
            engine: None,
            exceptions: BTreeSet::new(),
        })
    };
    let own = if container { IsolationLevel::Container } else { IsolationLevel::Namespaces };
    let availability = match state {
        "=" => capabilities(own, true),
        "~" => capabilities(own, false),
        "<" => capabilities(IsolationLevel::Subreaper, true),
        ">" => capabilities(IsolationLevel::Vm, true),
        "!" => missing(),
        "?" => Availability::NotTried,
        other => panic!("{other}"),
    };
    Candidate { name: name.to_owned(), availability, ruled_out }
}

/// A request as typed: a name, then options as on the command line.
fn asked(line: &str) -> (Request, Needs) {
    let mut words = line.split(' ');
    let name = words.next().unwrap().to_owned();
    let (mut no_fallback, mut floor, mut opts) = (false, None, ExecOpts::default());
    while let Some(word) = words.next() {
        match word {
            "--no-fallback" => no_fallback = true,
            "--min-isolation" => floor = Some(words.next().unwrap().parse().unwrap()),
            "--image" => opts.image = words.next().map(str::to_owned),
            "--gpus" => opts.gpus = Some(words.next().unwrap().parse().unwrap()),
            "--network" => opts.network = Some(words.next().unwrap().parse::<Network>().unwrap()),
            "--tty" => opts.tty = Some(WindowSize::default()),
            "--session" => opts = opts.in_session(SessionName::new("s")),
            other => panic!("{other}"),
        }
    }
    let request = match name.as_str() {
        "auto" => Request::Auto { no_fallback, floor },
        _ => Request::Named { name, floor },
    };
    (request, Needs::of(&opts))
}

/// The choice with the reasons against the others, or the refusal with its remedy, as one line.
fn outcome(world: &str, line: &str) -> String {
    let candidates: Vec<Candidate> = world.split_whitespace().map(candidate).collect();
    let (request, needs) = asked(line);
    match select(&request, |_| needs.clone(), &candidates) {
        Ok(selection) => {
            assert_eq!(selection.requested, line.split(' ').next().unwrap());
            let others =
                selection.passed_over.iter().map(|o| format!(" | {:?} {}: {}", o.because, o.name, o.reason));
            let overruled = selection.overruled.iter().map(|by| format!(" | over {by}"));
            format!("{}{}", selection.name, others.chain(overruled).collect::<String>())
        }
        Err(error) => {
            let remedy = error.remedy().map_or_else(|| "nothing".to_owned(), Remedy::to_string);
            format!("{:?} {error} => {remedy}", error.kind())
        }
    }
}

const DOWN: &str = "Missing docker: docker is down";
const BOTH_DOWN: &str = "local | Missing docker: docker is down | Missing podman: podman is down";
const OFF: &str = "RuledOut docker: ENABLE_DOCKER=false";

/// R6, R62, R63
#[rstest]
// Availability.
#[case("docker= podman= local=", "auto", "docker")]
#[case("docker= podman! local=", "auto", "docker")]
#[case("docker= podman= local!", "auto", "docker")]
#[case("docker= podman? local?", "auto", "docker")]
#[case("docker~ podman= local=", "auto", "docker")]
#[case("docker! podman= local=", "auto", &format!("podman | {DOWN}"))]
#[case("docker! podman= local?", "auto", &format!("podman | {DOWN}"))]
#[case("docker! podman! local=", "auto", BOTH_DOWN)]
#[case("docker! podman! local<", "auto", BOTH_DOWN)]
#[case("docker! local=", "auto", &format!("local | {DOWN}"))]
#[case("local=", "auto", "local")]
#[case(
    "docker! podman! local!",
    "auto",
    "Unavailable no sandbox can be used (docker: docker is down; podman: podman is down; local: local is down) => start docker"
)]
#[case("", "auto", "NotFound no executor is registered => nothing")]
// By name: that executor or none.
#[case("docker= podman= local=", "docker", "docker")]
#[case("docker= podman= local=", "podman", "podman")]
#[case("docker= podman= local=", "local", "local")]
#[case("docker? podman? local=", "local", "local")]
#[case("docker! podman= local=", "docker", "Unavailable docker: docker is down => start docker")]
#[case("docker= podman! local=", "podman", "Unavailable podman: podman is down => start podman")]
#[case("docker= podman= local!", "local", "Unavailable local: local is down => start local")]
#[case(
    "docker? local=",
    "docker",
    "Unavailable docker: it was not searched for => set the option `executor` to `docker` to ask for it by name"
)]
#[case(
    "docker= podman= local=",
    "dokcer",
    "NotFound there is no executor `dokcer` => use one of these: docker, podman, local"
)]
#[case("", "docker", "NotFound there is no executor `docker` => use one of these: nothing is registered")]
// --no-fallback: the first choice or none.
#[case("docker= podman= local=", "auto --no-fallback", "docker")]
#[case("docker! podman= local=", "auto --no-fallback", "Unavailable docker: docker is down => start docker")]
#[case("docker! podman! local=", "auto --no-fallback", "Unavailable docker: docker is down => start docker")]
#[case("local=", "auto --no-fallback", "local")]
#[case("docker! local=", "docker --no-fallback", "Unavailable docker: docker is down => start docker")]
// --min-isolation.
#[case("docker= local=", "auto --min-isolation container", "docker")]
#[case("docker! podman= local=", "auto --min-isolation container", &format!("podman | {DOWN}"))]
#[case("docker! local=", "auto --min-isolation namespaces", &format!("local | {DOWN}"))]
#[case(
    "docker! local=",
    "auto --min-isolation container",
    "IsolationTooWeak no sandbox can be used (docker: docker is down; local: its isolation here is `namespaces`, the floor is `container`) => start docker"
)]
#[case(
    "local<",
    "auto --min-isolation namespaces",
    "IsolationTooWeak no sandbox can be used (local: its isolation here is `subreaper`, the floor is `namespaces`) => use a stronger sandbox, or set the option `min_isolation` to `subreaper` to lower the floor"
)]
#[case(
    "docker= podman> local=",
    "auto --min-isolation vm",
    "podman | Unfit docker: its isolation here is `container`, the floor is `vm`"
)]
#[case(
    "docker= podman> local=",
    "auto --min-isolation vm --no-fallback",
    "IsolationTooWeak docker: its isolation here is `container`, the floor is `vm` => use a stronger sandbox, or set the option `min_isolation` to `container` to lower the floor"
)]
#[case(
    "docker= local=",
    "docker --min-isolation vm",
    "IsolationTooWeak docker: its isolation here is `container`, the floor is `vm` => use a stronger sandbox, or set the option `min_isolation` to `container` to lower the floor"
)]
#[case(
    "docker= local=",
    "local --min-isolation container",
    "IsolationTooWeak local: its isolation here is `namespaces`, the floor is `container` => use a stronger sandbox, or set the option `min_isolation` to `namespaces` to lower the floor"
)]
#[case("docker= local=", "local --min-isolation namespaces", "local")]
// A feature that only some executors have is never dropped in order to run at all.
#[case("docker= local=", "auto --image debian", "docker")]
#[case("docker! podman= local=", "auto --image debian", &format!("podman | {DOWN}"))]
#[case(
    "docker! local=",
    "auto --image debian",
    "Unsupported no sandbox can be used (docker: docker is down; local: it has no images to find `debian` in) => start docker"
)]
#[case("docker! local=", "auto --image host", &format!("local | {DOWN}"))]
#[case(
    "docker! local=",
    "auto --gpus all",
    "Unsupported no sandbox can be used (docker: docker is down; local: it has no graphics processors) => start docker"
)]
#[case(
    "docker! local=",
    "auto --network bridge",
    "Unsupported no sandbox can be used (docker: docker is down; local: it has no bridge network) => start docker"
)]
#[case("docker! local=", "auto --network host", &format!("local | {DOWN}"))]
#[case("docker~ local=", "auto --tty", "local | Unfit docker: it has no terminals")]
#[case("docker~ podman= local=", "auto --session", "podman | Unfit docker: it has no sessions")]
#[case(
    "docker~ local=",
    "auto --tty --no-fallback",
    "Unsupported docker: it has no terminals => leave out the option `tty`, or use a container"
)]
// An executor requested by name refuses by itself what it can't do.
#[case("docker~ local=", "docker --tty", "docker")]
#[case("local=", "local --image debian", "local")]
// An executor ruled out by the environment is not a choice, so passing it over is not a fallback.
#[case("docker?-ENABLE_DOCKER=false podman= local=", "auto", &format!("podman | {OFF}"))]
#[case("docker?-ENABLE_DOCKER=false podman?-ENABLE_DOCKER=false local=", "auto --no-fallback", &format!("local | {OFF} | RuledOut podman: ENABLE_DOCKER=false"))]
#[case("docker=-ENABLE_DOCKER=false local=", "auto", &format!("local | {OFF}"))]
#[case("docker?-ENABLE_DOCKER=false podman! local=", "auto", &format!("local | {OFF} | Missing podman: podman is down"))]
#[case(
    "docker?-ENABLE_DOCKER=false podman! local=",
    "auto --no-fallback",
    "Unavailable podman: podman is down => start podman"
)]
#[case(
    "docker?-ENABLE_DOCKER=false local=",
    "auto --min-isolation container",
    "IsolationTooWeak no sandbox can be used (docker: ENABLE_DOCKER=false; local: its isolation here is `namespaces`, the floor is `container`) => use a stronger sandbox, or set the option `min_isolation` to `namespaces` to lower the floor"
)]
#[case("docker?-X", "auto", "NotFound every executor is ruled out => nothing")]
#[case("docker=-ENABLE_DOCKER=false local=", "docker", "docker | over ENABLE_DOCKER=false")]
#[case("docker!-ENABLE_DOCKER=false local=", "docker", "Unavailable docker: docker is down => start docker")]
#[case("docker?-ENABLE_DOCKER=false local=", "local", "local")]
fn chooses(#[case] world: &str, #[case] line: &str, #[case] expected: &str) {
    assert_eq!(outcome(world, line), expected);
}

/// R62: getting less than wanted is a fallback; getting what was asked for by name is not.
#[test]
fn a_fallback_is_told_apart_from_an_order() {
    let fallback = |world: &str| {
        let candidates: Vec<Candidate> = world.split_whitespace().map(candidate).collect();
        let (request, needs) = asked("auto");
        select(&request, |_| needs.clone(), &candidates).unwrap().is_fallback()
    };
    assert!(fallback("docker! local="));
    assert!(!fallback("docker= local="));
    assert!(!fallback("docker?-ENABLE_DOCKER=false local="));
}
