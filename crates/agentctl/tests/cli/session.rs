//! Sessions of an orchestrator that uses the library, seen and stopped by `agentctl`.

use agent_exec::Sandbox;
use agent_exec::control::{Audit, StateDir, Watch};
use exec_core::{Cmd, Event, ExecOpts, Execution, Executor, SessionName, Signal};

use crate::figures::{ATTEMPTS, attempts};
use crate::support::{Marker, Place, ps, runs, said};

/// An orchestrator in this process, and how it runs the commands of one session.
async fn orchestrator(place: &Place) -> (Sandbox, ExecOpts) {
    let watch = Watch::new(StateDir::at(place.state()), Audit::Off);
    let sandbox = agent_exec::builder().sandbox("local").watch(watch).build().await.unwrap();
    (sandbox, ExecOpts::in_workspace(place.path()).in_session(SessionName::new("work")))
}

/// A run with a child; both keep running.
async fn started(sandbox: &Sandbox, opts: &ExecOpts, marker: &Marker) -> Execution {
    let script = format!("sleep {marker} & echo up; exec sleep {marker}");
    let run = sandbox.start(&Cmd::shell(script), opts).await.unwrap();
    while let Some(event) = run.next_event().await {
        if matches!(event, Event::Output { .. }) {
            break;
        }
    }
    marker.assert_appears();
    run
}

/// R13
#[tokio::test]
async fn kill_ends_one_run_of_a_session_and_nothing_else() {
    let (place, one, other) = (Place::new(), Marker::new(), Marker::new());
    let (sandbox, opts) = orchestrator(&place).await;
    sandbox.run(&Cmd::shell("echo kept > /tmp/kept"), &opts).await.unwrap();
    let killed = started(&sandbox, &opts, &one).await;
    let left = started(&sandbox, &opts, &other).await;
    let cell = ps(&place)["cells"][0]["cell"].clone();

    let output = place.output(["kill", &killed.id().to_string()]);
    assert!(output.status.success(), "{}", said(&output));
    one.assert_gone();
    assert_eq!(killed.wait().await.unwrap().signal(), Some(Signal::KILL));

    other.assert_appears();
    assert_eq!(runs(&place), [left.id().to_string()]);
    let seen = ps(&place);
    assert_eq!((&seen["cells"][0]["cell"], &seen["cells"][0]["session"]), (&cell, &"work".into()), "{seen}");
    let found = sandbox.run(&Cmd::shell("cat /tmp/kept"), &opts).await.unwrap();
    assert_eq!(found.stdout.text(), "kept\n", "the session is the same one");
    sandbox.end_session(&SessionName::new("work")).await.unwrap();
    other.assert_gone();
}

/// R90: the counts last as long as the session's cell.
#[tokio::test]
async fn denials_of_a_session_are_those_of_all_its_runs() {
    let (place, marker) = (Place::new(), Marker::new());
    let (sandbox, opts) = orchestrator(&place).await;
    let denials = || ps(&place)["cells"][0]["network_denials"].as_u64();
    for run in 1..=2 {
        let tried = sandbox.run(&attempts(), &opts).await.unwrap();
        assert_eq!(tried.stdout.text(), format!("{ATTEMPTS}\n"), "all were refused");
        assert_eq!(denials(), Some(run * ATTEMPTS), "the run is over, the session is not");
    }
    let quiet = started(&sandbox, &opts, &marker).await;
    assert_eq!(denials(), Some(2 * ATTEMPTS));
    drop(quiet);
    sandbox.end_session(&SessionName::new("work")).await.unwrap();
}
