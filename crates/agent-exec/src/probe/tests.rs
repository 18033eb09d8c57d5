//! Searches, with a clock that advances only when all tasks are idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn missing() -> Detected {
    Detected::Missing { reason: String::new(), remedy: "".into() }
}

/// A probe that answers after so many milliseconds.
fn slow(name: &'static str, millis: u64) -> Probe {
    Probe::new(name, async move {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        Ok(missing())
    })
}

fn hung(name: &'static str) -> Probe {
    Probe::new(name, std::future::pending())
}

/// A probe that counts how often it is started.
fn counted(name: &'static str, count: &Arc<AtomicUsize>) -> Probe {
    let count = Arc::clone(count);
    Probe::new(name, async move {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(missing())
    })
}

fn knows(name: &'static str) -> impl Fn(&[Finding]) -> bool {
    move |found| found.iter().any(|finding| finding.name == name)
}

fn names(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.name.as_str()).collect()
}

/// R60: a probe that answers is the only one started.
#[tokio::test(start_paused = true)]
async fn a_good_first_answer_is_the_only_one() {
    let others = Arc::new(AtomicUsize::new(0));
    let findings = look(vec![slow("docker", 900), counted("local", &others)], knows("docker")).await;
    assert_eq!((names(&findings), others.load(Ordering::Relaxed)), (vec!["docker"], 0));
}

/// R60: a hanging probe delays the rest by its own time-out, however many there are.
#[tokio::test(start_paused = true)]
async fn those_that_take_their_time_are_waited_for_at_once() {
    let begun = Instant::now();
    let probes = vec![slow("docker", 5000), slow("podman", 5000), slow("local", 10)];
    let findings = look(probes, |_| false).await;
    assert_eq!(names(&findings), ["docker", "podman", "local"]);
    assert_eq!(begun.elapsed(), Duration::from_secs(5) + HEAD_START);
    assert_eq!(findings[2].took, Duration::from_millis(10));
}

/// R62: a quick answer is not a better one.
#[tokio::test(start_paused = true)]
async fn a_better_one_is_waited_for() {
    let begun = Instant::now();
    let findings = look(vec![slow("docker", 4000), slow("local", 1)], |found| !found.is_empty()).await;
    assert_eq!((findings[0].name.as_str(), begun.elapsed()), ("docker", Duration::from_secs(4)));
}

#[tokio::test(start_paused = true)]
async fn a_failure_leads_to_the_next_at_once() {
    let begun = Instant::now();
    let findings = look(vec![slow("docker", 1), slow("podman", 1), slow("local", 1)], knows("local")).await;
    assert_eq!((findings.len(), begun.elapsed()), (3, Duration::from_millis(3)));
}

/// R60: a probe that never answers does not hold back a better one.
#[tokio::test(start_paused = true)]
async fn one_that_hangs_behind_the_choice_is_left() {
    let findings = look(vec![slow("docker", 3000), hung("podman"), hung("local")], knows("docker")).await;
    assert_eq!(names(&findings), ["docker"]);
}

/// R62: an unavailable image is a reason to go on; an invalid option is not.
#[tokio::test]
async fn only_nonsense_stays_an_error() {
    let failing = |kind| {
        let error = exec_core::Error::new(kind, "start", "no").with_remedy("do");
        Probe::new("docker", std::future::ready(Err(error))).or_pass_over()
    };
    let Ok(Detected::Missing { reason, remedy }) = failing(ErrorKind::ImageNotFound).run().await.detected
    else {
        panic!("it should be passed over");
    };
    assert_eq!((reason.as_str(), remedy), ("no", "do".into()));
    assert!(failing(ErrorKind::InvalidInput).run().await.detected.is_err());
}

/// F2: a bug in one probe does not affect the others, and the search ends.
#[tokio::test(start_paused = true)]
async fn one_that_panics_is_passed_over() {
    let broken = Probe::new("docker", async { panic!("a fault of ours") });
    let findings = look(vec![broken, slow("local", 1)], knows("local")).await;
    assert_eq!(names(&findings), ["docker", "local"]);
    assert!(matches!(&findings[0].detected, Ok(Detected::Missing { .. })));
}
