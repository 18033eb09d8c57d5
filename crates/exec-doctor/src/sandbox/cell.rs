//! Whether a cell can be created, and how strong its isolation is.

use exec_core::{IsolationLevel, Operation, Remedy};

use super::Patient;
use crate::Verdict;

pub(super) async fn check(patient: &Patient<'_>) -> Result<Verdict, Verdict> {
    let result = patient.shell("exit 42").await?;
    if result.exit_code() != Some(42) {
        return Err(Verdict::fails(
            format!("a command that exits with 42 ended with {:?}", result.outcome.status),
            Operation::Trace,
        ));
    }
    let isolation = &result.outcome.isolation;
    let found = format!("made, and a command ran in it in {} ms", result.outcome.duration.as_millis());
    Ok(match isolation.level {
        IsolationLevel::Subreaper | IsolationLevel::ProcessGroup => {
            let missing =
                isolation.degraded.first().map_or("namespaces are not available here", String::as_str);
            Verdict::weak(
                format!("{found}, behind weak walls ({}): {missing}", isolation.level),
                fix(patient),
            )
        }
        _ => Verdict::holds(found),
    })
}

fn fix(patient: &Patient<'_>) -> Remedy {
    match (patient.host.namespace_ban, &patient.host.container) {
        (Some(ban), _) => Remedy::host(ban.fix()),
        (None, Some(_)) => Remedy::host(
            "let this container make namespaces: start it with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or as privileged",
        ),
        (None, None) => Remedy::container(),
    }
}
