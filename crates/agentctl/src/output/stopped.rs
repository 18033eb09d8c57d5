//! What stopping came to, for people. Pure.

use agent_exec::control::Report;

use super::{Line, visible};

/// One line for everything that is gone.
pub(crate) fn ended(report: &Report) -> String {
    let line = |ended: &agent_exec::control::Ended| {
        let what = if ended.runs.is_empty() { ended.cell.clone() } else { ended.runs.join(" ") };
        format!("ended {what} ({})\n", ended.executor)
    };
    report.ended.iter().map(line).collect()
}

/// What is not.
pub(crate) fn problems(report: &Report) -> Vec<Line> {
    let survivors = report.survivors.iter().map(|survivor| {
        let name = visible(&survivor.name);
        let waits = survivor.waits_in.as_ref().map_or_else(String::new, |place| format!(" in {place}"));
        let (state, remedy) = match survivor.state {
            'D' => (
                format!("the kernel does not let it go: uninterruptible sleep{waits}"),
                "end what it waits for (a hung file system or device: unmount it with `umount -f -l`), then try again",
            ),
            other => (format!("its state is {other}{waits}"), "try again, as root if it is another user's"),
        };
        Line::error(format!(
            "process {} ({name}) of {} is still alive: {state}",
            survivor.pid, survivor.cell
        ))
        .with_remedy(remedy)
    });
    let left = report.left.iter().map(|left| {
        let line = format!("{}: {}", left.what, left.why);
        if left.may_live { Line::error(line) } else { Line::warn(format!("{line}; its processes are dead")) }
    });
    survivors.chain(left).collect()
}

#[cfg(test)]
mod tests {
    use agent_exec::control::{Ended, Left, Survivor};

    use super::*;

    /// R14: survivors are named.
    #[test]
    fn what_is_left_is_named_with_what_to_do() {
        let report = Report {
            ended: vec![Ended {
                cell: "c1".into(),
                executor: "local".into(),
                runs: vec!["a".into(), "b".into()],
            }],
            survivors: vec![Survivor {
                cell: "c2".into(),
                pid: 7,
                name: "cat\x1b[2J".into(),
                state: 'D',
                waits_in: Some("fuse_wait".into()),
            }],
            left: vec![Left { what: "container c3".into(), why: "the engine hangs".into(), may_live: false }],
        };
        assert_eq!(ended(&report), "ended a b (local)\n");
        let lines: Vec<String> = problems(&report)
            .iter()
            .map(|line| super::super::Voice::Person.render(line, std::time::UNIX_EPOCH))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        agentctl: process 7 (cat\u{1b}[2J) of c2 is still alive: the kernel does not let it go: uninterruptible sleep in fuse_wait
          try: end what it waits for (a hung file system or device: unmount it with `umount -f -l`), then try again
        agentctl: WARN container c3: the engine hangs; its processes are dead
        ");
    }
}
