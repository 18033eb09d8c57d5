//! Places that may do what a rule forbids elsewhere, and how to notice that one no longer needs to.

use super::Problem;

/// A file or directory of the source, and what it may use.
#[derive(Debug)]
pub(super) struct Exception {
    /// The beginning of a path.
    pub(super) place: &'static str,
    /// As the rule names it; everything where it is empty.
    pub(super) uses: &'static [&'static str],
    #[expect(dead_code, reason = "written down for the reader, who may want to add a place")]
    pub(super) why: &'static str,
}

impl Exception {
    fn covers(&self, path: &str, name: &str) -> bool {
        path.starts_with(self.place) && (self.uses.is_empty() || self.uses.contains(&name))
    }
}

/// Whether one of these allows the use of `name` in this file.
pub(super) fn is_allowed(exceptions: &[Exception], path: &str, name: &str) -> bool {
    exceptions.iter().any(|exception| exception.covers(path, name))
}

/// Exceptions that nothing needs any more. `used` are all uses, each with the path of its file.
pub(super) fn idle(exceptions: &[Exception], used: &[(&str, String)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for exception in exceptions {
        let here = || used.iter().filter(|(path, _)| path.starts_with(exception.place));
        let idle = exception.uses.iter().filter(|name| !here().any(|(_, used)| used == **name));
        problems.extend(idle.map(|name| {
            Problem::of(exception.place, format!("nothing here needs the exception for `{name}`"))
        }));
        if exception.uses.is_empty() && here().next().is_none() {
            problems.push(Problem::of(exception.place, "nothing here needs its exception"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: &str = "crates/exec-new/src/read.rs";

    #[test]
    fn an_exception_is_for_what_it_names() {
        let one = [Exception { place: PLACE, uses: &["canonicalize"], why: "" }];
        assert!(is_allowed(&one, PLACE, "canonicalize") && !is_allowed(&one, PLACE, "fs"));
        assert!(!is_allowed(&one, "crates/exec-new/src/other.rs", "canonicalize"));
    }

    #[test]
    fn an_exception_that_nothing_needs_is_a_problem() {
        let two = [
            Exception { place: PLACE, uses: &["fs", "File"], why: "" },
            Exception { place: "crates/exec-old/", uses: &[], why: "" },
        ];
        let problems = idle(&two, &[(PLACE, "fs".to_owned())]);
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "crates/exec-new/src/read.rs: nothing here needs the exception for `File`",
                "crates/exec-old/: nothing here needs its exception",
            ]
        );
    }
}
