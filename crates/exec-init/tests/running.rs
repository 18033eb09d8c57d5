//! Commands that run: their output, their end and their surroundings.
#![cfg(target_os = "linux")]
#![allow(clippy::panic, reason = "a helper of tests fails like a test")]

mod client;

use std::process::Command;

use client::{Cell, Event, command, in_session, shell, with_stdin};
use exec_wire::{EndReason, Failed, Resource, Rlimit, Stage, Status, ToCell};

in_both_walls! {
    fn output_and_status_arrive(walls) {
        let outcome = Cell::new(walls).run(1, shell("echo out; echo err >&2; exit 7"));
        assert_eq!(outcome.stdout, b"out\n");
        assert_eq!(outcome.stderr, b"err\n");
        assert_eq!(outcome.exited.status, Status::Code(7));
        assert_eq!(outcome.exited.reason, EndReason::Own);
        assert_eq!((outcome.closed.stdout_bytes, outcome.closed.stderr_bytes), (4, 4));
        assert_eq!(outcome.closed.survivors, Vec::<u32>::new());
    }

    fn a_signal_of_its_own_is_its_own_end(walls) {
        let outcome = Cell::new(walls).run(1, shell("kill -SEGV $$"));
        assert_eq!(outcome.exited.status, Status::Signal(11));
        assert_eq!(outcome.exited.reason, EndReason::Own);
    }

    fn a_missing_program_is_an_exec_failure_and_the_cell_continues(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, command(&["no-such-program-anywhere"]));
        let Event::Failed(failed) = cell.next().1 else { panic!("it can't start") };
        assert_eq!((failed.stage, failed.errno), (Stage::Exec, libc::ENOENT));
        assert_eq!(cell.run(2, shell("echo still here")).stdout, b"still here\n");
    }

    fn a_missing_working_directory_is_an_error(walls) {
        let mut cell = Cell::new(walls);
        let mut start = shell("true");
        start.cwd = b"/no/such/place".to_vec();
        cell.start(1, start);
        let Event::Failed(failed) = cell.next().1 else { panic!("it can't start") };
        assert_eq!((failed.stage, failed.errno), (Stage::Cwd, libc::ENOENT));
    }

    fn a_file_that_may_not_be_run_is_denied_not_missing(walls) {
        let mut cell = Cell::new(walls);
        let mut start = command(&["passwd"]);
        start.env = vec![b"PATH=/etc:/no-such".to_vec()];
        cell.start(1, start);
        let Event::Failed(failed) = cell.next().1 else { panic!("it can't start") };
        assert_eq!((failed.stage, failed.errno), (Stage::Exec, libc::EACCES));
    }

    fn a_cell_serves_one_command(walls) {
        let mut cell = Cell::new(walls);
        cell.run(1, shell("true"));
        cell.start(2, shell("true"));
        let (2, Event::Failed(failed)) = cell.next() else { panic!("it must be refused") };
        assert_eq!((failed.stage, failed.errno), (Stage::Refused, libc::ESHUTDOWN));
        cell.ping();
    }

    fn the_command_has_only_its_own_descriptors(walls) {
        // The fourth belongs to the directory that `ls` lists.
        let outcome = Cell::new(walls).run(1, command(&["ls", "/proc/self/fd"]));
        assert_eq!(outcome.text().split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    }

    fn the_command_starts_with_a_clean_signal_state(walls) {
        let outcome = Cell::new(walls).run(1, command(&["grep", "^Sig", "/proc/self/status"]));
        let text = outcome.text();
        for field in ["SigBlk", "SigIgn"] {
            let line = text.lines().find(|line| line.starts_with(field)).expect("field");
            assert!(line.ends_with("\t0000000000000000"), "{line}");
        }
    }

    fn the_command_leads_its_own_session(walls) {
        let outcome = Cell::new(walls).run(1, shell("cut -d' ' -f1,5,6 /proc/$$/stat"));
        let ids: Vec<_> = outcome.text().split_whitespace().map(str::to_owned).collect();
        assert_eq!(ids[0], ids[1]);
        assert_eq!(ids[0], ids[2]);
    }

    fn environment_directory_mask_and_limits_are_as_requested(walls) {
        let mut start = shell("cat /proc/$$/environ | tr '\\0' '\\n'; pwd; umask; ulimit -n; ulimit -c; ulimit -f");
        start.env = vec![b"PATH=/usr/bin:/bin".to_vec(), b"A=b c".to_vec()];
        start.cwd = b"/usr".to_vec();
        start.umask = 0o027;
        start.rlimits = vec![
            Rlimit { resource: Resource::OpenFiles, value: 64 },
            Rlimit { resource: Resource::FileSize, value: 512 * 1024 },
        ];
        let text = Cell::new(walls).run(1, start).text();
        assert_eq!(text, "PATH=/usr/bin:/bin\nA=b c\n/usr\n0027\n64\n0\n1024\n");
    }

    fn a_limit_above_the_hard_one_is_not_an_error(walls) {
        let mut start = shell("ulimit -n");
        start.rlimits = vec![Rlimit { resource: Resource::OpenFiles, value: u64::MAX }];
        let outcome = Cell::new(walls).run(1, start);
        assert_eq!(outcome.exited.status, Status::Code(0));
    }

    fn a_script_without_an_interpreter_runs_in_the_shell(walls) {
        let directory = tempfile::tempdir().expect("directory");
        let script = directory.path().join("script");
        std::fs::write(&script, "echo $0 $1\n").expect("write");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).expect("chmod");
        let name = script.to_str().expect("text");
        let outcome = Cell::new(walls).run(1, command(&[name, "arg"]));
        assert_eq!(outcome.text(), format!("{name} arg\n"));
    }

    fn cpu_time_and_memory_are_counted(walls) {
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let closed = Cell::new(walls).run(1, shell(script)).closed;
        assert!(closed.user_us + closed.system_us > 10_000, "{closed:?}");
        assert!(closed.peak_memory > 100_000, "{closed:?}");
    }

    fn a_megabyte_of_arguments_arrives(walls) {
        let word = "x".repeat(100_000);
        let mut argv = vec!["sh", "-c", "echo $# ${#10}", "sh"];
        argv.extend(std::iter::repeat_n(word.as_str(), 10));
        assert_eq!(Cell::new(walls).run(1, command(&argv)).text(), "10 100000\n");
    }

    fn frames_for_runs_that_do_not_exist_are_ignored(walls) {
        let mut cell = Cell::new(walls);
        cell.send(9, &ToCell::Signal(15));
        cell.send(9, &ToCell::Stop { grace_ms: 0 });
        cell.send(9, &ToCell::Stdin(b"x"));
        cell.send(9, &ToCell::Credit(5));
        cell.run(1, shell("true"));
        cell.send(1, &ToCell::Signal(15));
        cell.send(1, &ToCell::Stop { grace_ms: 0 });
        cell.ping();
    }

    fn the_number_of_runs_has_a_limit(walls) {
        let mut cell = Cell::new(walls);
        let failed = crowd(&mut cell);
        assert_eq!((failed.stage, failed.errno), (Stage::Refused, libc::EBUSY));
        continues_after(&mut cell);
    }
}

/// Starts waiting commands until one can't be started.
fn crowd(cell: &mut Cell) -> Failed {
    for run in 1.. {
        cell.start(run, in_session(with_stdin(shell("read line"))));
        let mut event = cell.next().1;
        while matches!(event, Event::StdinCredit(_)) {
            event = cell.next().1;
        }
        match event {
            Event::Started(_) => {}
            Event::Failed(failed) => return failed,
            other => panic!("not expected: {other:?}"),
        }
    }
    unreachable!("there is a limit")
}

/// Stops the first of a crowd and starts another in its place.
fn continues_after(cell: &mut Cell) {
    cell.send(1, &ToCell::Stop { grace_ms: 0 });
    while !matches!(cell.next(), (1, Event::Closed(_))) {}
    cell.start(1_000_000, in_session(shell("exit 3")));
    loop {
        if let (1_000_000, Event::Exited(exited)) = cell.next() {
            assert_eq!(exited.status, Status::Code(3));
            return;
        }
    }
}

#[test]
fn a_cell_out_of_descriptors_reports_it_and_continues() {
    let mut sh = Command::new("sh");
    sh.args(["-c", "ulimit -n 60; exec \"$0\"", env!("CARGO_BIN_EXE_exec-init")]);
    let mut cell = Cell::of(sh);
    cell.greet();
    let failed = crowd(&mut cell);
    assert_eq!((failed.stage, failed.errno), (Stage::Stdio, libc::EMFILE));
    continues_after(&mut cell);
}

#[test]
fn facts_report_what_holds() {
    let facts = Cell::new(client::Walls::Subreaper).facts.take().expect("facts");
    assert!(!facts.pid_namespace);
    assert!(facts.no_new_privs);
    if client::has_namespaces() {
        let facts = Cell::new(client::Walls::Namespace).facts.take().expect("facts");
        assert!(facts.pid_namespace);
        assert_eq!(facts.capabilities, 0);
    }
}
