//! The outcome of stopping, as text. Pure.

use agent_exec::control::{Report, Survivor};
use exec_core::printable;

use super::Line;

/// One line for everything that is gone.
pub(crate) fn ended(report: &Report) -> String {
    let line = |ended: &agent_exec::control::Ended| {
        let what = if ended.runs.is_empty() { ended.cell.clone() } else { ended.runs.join(" ") };
        format!("ended {what} ({})\n", ended.executor)
    };
    report.ended.iter().map(line).collect()
}

/// The survivors. The remedy is printed once, however many there are.
pub(crate) fn problems(report: &Report) -> Vec<Line> {
    let last_of_its_kind = |is_stuck: bool| report.survivors.iter().rposition(|one| is_stuck == stuck(one));
    let last = [last_of_its_kind(true), last_of_its_kind(false)];
    let survivors = report.survivors.iter().enumerate().map(|(index, one)| {
        let line = survivor(one);
        if last.contains(&Some(index)) { line.with_remedy(remedy(one)) } else { line }
    });
    let left = report.left.iter().map(|left| {
        let line = format!("{}: {}", left.what, left.why);
        if left.may_live { Line::error(line) } else { Line::warn(format!("{line}; its processes are dead")) }
    });
    survivors.chain(left).collect()
}

/// Whether the kernel itself keeps it alive.
fn stuck(survivor: &Survivor) -> bool {
    survivor.state == 'D'
}

fn survivor(survivor: &Survivor) -> Line {
    let waits = survivor.waits_in.as_ref().map_or_else(String::new, |place| format!(" in {place}"));
    let state = if stuck(survivor) {
        format!("the kernel does not let it go: uninterruptible sleep{waits}")
    } else {
        format!("its state is {}{waits}", survivor.state)
    };
    let name = printable::line(&survivor.name);
    Line::error(format!("process {} ({name}) of {} is still alive: {state}", survivor.pid, survivor.cell))
}

fn remedy(survivor: &Survivor) -> &'static str {
    if stuck(survivor) {
        "end what it waits for (a hung file system or device: unmount it with `umount -f -l`), then try again"
    } else {
        "kill it again, as root if it is another user's"
    }
}

#[cfg(test)]
mod tests {
    use agent_exec::control::{Ended, Left};

    use super::*;

    fn survivor(pid: u32, name: &str, state: char) -> Survivor {
        let waits_in = (state == 'D').then(|| "fuse_wait".to_owned());
        Survivor { cell: "c2".into(), pid, name: name.into(), state, waits_in }
    }

    /// R14: survivors are named.
    #[test]
    fn survivors_are_named_with_a_remedy() {
        let report = Report {
            ended: vec![Ended {
                cell: "c1".into(),
                executor: "local".into(),
                runs: vec!["a".into(), "b".into()],
            }],
            survivors: vec![
                survivor(7, "cat\x1b[2J", 'D'),
                survivor(8, "cat", 'D'),
                survivor(9, "perl", 'R'),
                survivor(10, "perl", 'R'),
            ],
            left: vec![Left { what: "container c3".into(), why: "the engine hangs".into(), may_live: false }],
        };
        assert_eq!(ended(&report), "ended a b (local)\n");
        let lines: Vec<String> = problems(&report)
            .iter()
            .map(|line| super::super::Voice::Person.render(line, std::time::UNIX_EPOCH))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        agentctl: process 7 (cat\u{1b}[2J) of c2 is still alive: the kernel does not let it go: uninterruptible sleep in fuse_wait
        agentctl: process 8 (cat) of c2 is still alive: the kernel does not let it go: uninterruptible sleep in fuse_wait
          try: end what it waits for (a hung file system or device: unmount it with `umount -f -l`), then try again
        agentctl: process 9 (perl) of c2 is still alive: its state is R
        agentctl: process 10 (perl) of c2 is still alive: its state is R
          try: kill it again, as root if it is another user's
        agentctl: WARN container c3: the engine hangs; its processes are dead
        ");
    }
}
