//! The duration of each test, read from the output of a test executable.

use std::time::Duration;

/// Makes our own harness print the duration of each case, in a line with this beginning; see `exec-testkit`.
pub(crate) const VARIABLE: &str = "EXEC_TEST_TIMES";
const OURS: &str = "took ";

/// Makes the standard harness print it. The option is unstable, which [`UNSTABLE`] allows.
pub(crate) const OPTIONS: [&str; 3] = ["-Z", "unstable-options", "--report-time"];
pub(crate) const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

/// One test and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CaseTime {
    pub(crate) name: String,
    pub(crate) took: Duration,
}

/// The output without the lines about times, and the times.
pub(crate) fn split(output: &str) -> (String, Vec<CaseTime>) {
    let (mut text, mut times) = (String::new(), Vec::new());
    for line in output.split_inclusive('\n') {
        if let Some(case) = ours(line.trim_end()) {
            times.push(case);
        } else {
            times.extend(standard(line.trim_end()));
            text.push_str(line);
        }
    }
    (text, times)
}

/// `took 1.234 s: docker::stop::a_case`
fn ours(line: &str) -> Option<CaseTime> {
    let (seconds, name) = line.strip_prefix(OURS)?.split_once(" s: ")?;
    case(name, seconds)
}

/// `test module::a_test ... ok <1.234s>`
fn standard(line: &str) -> Option<CaseTime> {
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    case(name, end.rsplit_once('<')?.1.strip_suffix("s>")?)
}

fn case(name: &str, seconds: &str) -> Option<CaseTime> {
    let took = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
    Some(CaseTime { name: name.to_owned(), took })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_from_both_harnesses() {
        let output = "running 3 tests\ntest a::b ... ok <1.500s>\ntest a::c ... FAILED <0.250s>\ntest d ... ignored\n\
                      test [R10]  docker::stop::e ... ok\ntook 2.000 s: docker::stop::e\ntook a rest\nend";
        let (text, times) = split(output);
        assert_eq!(text, output.replace("took 2.000 s: docker::stop::e\n", ""));
        let shown: Vec<_> = times.iter().map(|case| (case.name.as_str(), case.took.as_millis())).collect();
        assert_eq!(shown, [("a::b", 1500), ("a::c", 250), ("docker::stop::e", 2000)]);
    }
}
