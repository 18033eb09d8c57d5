//! The reaper as a process, between a host that goes away and a fake engine.
#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, reason = "a test that can't continue has failed")]

#[path = "../client/mod.rs"]
mod client;
mod engine;
mod process;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use client::until;
use engine::Engine;
use exec_wire::procfs::Stat;
use process::Reaper;
use rustix::process::Signal;

#[test]
fn watched_containers_go_and_forgotten_ones_stay() {
    let engine = Engine::start(|_, _| 204);
    let mut reaper = Reaper::of(&engine.socket());
    for name in ["one", "two", "three"] {
        reaper.watch(name);
    }
    reaper.forget("two");
    assert!(engine.asked().is_empty(), "the host is still there");
    reaper.hang_up();
    assert_eq!(reaper.wait().code(), Some(0));
    assert_eq!(engine.asked(), ["one", "three"]);
}

/// R11, F1: no code of the host runs any more, and no other process holds the pipe's other end.
#[test]
fn a_killed_host_counts_as_gone() {
    let engine = Engine::start(|_, _| 204);
    let said = [process::engine(&engine.socket()), process::watch("left")].concat();
    let said = String::from_utf8(said).expect("text");
    let mut host = Command::new("sh")
        .args(["-c", "printf %s \"$0\"; exec sleep 1000", &said])
        .stdout(Stdio::piped())
        .spawn()
        .expect("spawn");
    let mut reaper = process::program().stdin(host.stdout.take().expect("piped")).spawn().expect("spawn");
    let comm = format!("/proc/{}/comm", host.id());
    until("the host has sent everything", || fs::read_to_string(&comm).expect("comm") == "sleep\n");
    host.kill().expect("kill");
    host.wait().expect("wait");
    assert_eq!(process::wait(&mut reaper).code(), Some(0));
    assert_eq!(engine.asked(), ["left"]);
}

#[test]
fn a_pending_creation_is_awaited_at_the_end() {
    let engine = Engine::start(|name, count| match (name, count) {
        ("late", 1..=3) => 404,
        _ => 204,
    });
    let mut reaper = Reaper::of(&engine.socket());
    reaper.watch("late");
    reaper.watch("there");
    reaper.hang_up();
    assert_eq!(reaper.wait().code(), Some(0));
    assert_eq!(engine.asked(), ["late", "there", "late", "late", "late"]);
}

/// F1: an engine that no longer finds a FIFO channel to mount may make the directory itself.
#[test]
fn a_recreated_lane_is_removed_too() {
    let home = tempfile::tempdir().expect("directory");
    let fifo_channels = home.path().join("lanes");
    let fifo_channel = fifo_channels.join("lane");
    fs::create_dir_all(&fifo_channel).expect("a FIFO channel");
    let engine = Engine::start(move |_, count| {
        assert!(!fifo_channel.exists(), "it was removed before the engine was asked");
        fs::create_dir_all(&fifo_channel).expect("another");
        if count < 3 { 404 } else { 204 }
    });
    let mut reaper = Reaper::of(&engine.socket());
    reaper.fifo_channels(&fifo_channels);
    reaper.watch("late");
    reaper.hang_up();
    assert_eq!(reaper.wait().code(), Some(0));
    assert_eq!(engine.asked().len(), 3);
    assert!(!fifo_channels.exists());
}

#[test]
fn a_removal_by_someone_else_is_awaited() {
    let engine = Engine::start(|_, count| if count < 3 { 409 } else { 404 });
    let mut reaper = Reaper::of(&engine.socket());
    reaper.watch("leaving");
    reaper.hang_up();
    assert_eq!(reaper.wait().code(), Some(0));
    assert_eq!(engine.asked().len(), 3);
}

#[test]
fn signals_to_the_hosts_group_do_not_end_it() {
    let engine = Engine::start(|_, _| 204);
    let mut reaper = Reaper::of(&engine.socket());
    reaper.watch("left");
    until("it has cut itself loose", || in_own_session(&reaper));
    for signal in
        [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::PIPE, Signal::TSTP, Signal::USR1]
    {
        reaper.signal(signal);
    }
    reaper.watch("right");
    reaper.hang_up();
    assert_eq!(reaper.wait().code(), Some(0));
    assert_eq!(engine.asked(), ["left", "right"]);
}

#[test]
fn nonsense_ends_it_after_its_duty() {
    let engine = Engine::start(|_, _| 204);
    let mut reaper = Reaper::of(&engine.socket());
    reaper.watch("known");
    reaper.say(b"watch ../../images/all\n");
    // The host is still alive.
    assert_eq!(reaper.wait().code(), Some(1));
    assert_eq!(engine.asked(), ["known"]);
}

#[test]
fn nothing_to_do_is_done_without_an_engine() {
    let mut untold = Reaper::silent();
    let mut idle = Reaper::of(Path::new("/nonexistent/engine.sock"));
    idle.watch("gone");
    idle.forget("gone");
    for reaper in [&mut untold, &mut idle] {
        reaper.hang_up();
        assert_eq!(reaper.wait().code(), Some(0));
    }
}

/// Except its output, which the host chooses: it keeps alive what has to last as long as the reaper works.
#[test]
fn it_keeps_no_descriptors() {
    let reaper = Reaper::silent();
    until("it has a name of its own", || {
        fs::read_to_string(reaper.proc("comm")).expect("comm") == "exec-reaper\n"
    });
    assert!(in_own_session(&reaper));
    assert_eq!(fs::read_link(reaper.proc("cwd")).expect("cwd"), Path::new("/"));
    let mut open: Vec<_> =
        fs::read_dir(reaper.proc("fd")).expect("fd").map(|fd| fd.expect("fd").path()).collect();
    open.sort();
    assert_eq!(open, [reaper.proc("fd/0"), reaper.proc("fd/1"), reaper.proc("fd/2")]);
    let link = |fd: &str| fs::read_link(reaper.proc(fd)).expect("link");
    assert_eq!(link("fd/2"), Path::new("/dev/null"));
    assert_eq!(link("fd/1"), fs::read_link("/proc/self/fd/1").expect("ours"));
}

fn in_own_session(reaper: &Reaper) -> bool {
    let stat = Stat::parse(&fs::read(reaper.proc("stat")).expect("stat")).expect("a process");
    reaper.proc("") == Path::new("/proc").join(stat.session.to_string())
}
