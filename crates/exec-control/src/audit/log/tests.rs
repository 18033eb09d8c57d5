//! Many processes write one log while it is rotated.

use std::collections::BTreeMap;
use std::process::Command;

use serde::Deserialize;

use super::*;

const WRITERS: usize = 16;
const LINES: usize = 12;
const ROUNDS: usize = 6;

/// No line of these tests is longer.
const LONGEST: usize = 250;

/// The kept files hold all lines of one round.
const SIZE: u64 = (WRITERS * LINES * LONGEST) as u64 / KEPT as u64;

/// Makes a process one of the writers: the log, then the round and the writer.
const TASK: [&str; 2] = ["EXEC_WATCH_TEST_LOG", "EXEC_WATCH_TEST_WRITER"];

#[derive(Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    writer: String,
    number: usize,
    filler: String,
}

impl Line {
    fn new(writer: &str, number: usize) -> Self {
        let filler = "x".repeat((number * 41 + writer.len() * 7) % 180);
        Self { writer: writer.to_owned(), number, filler }
    }
}

fn log(path: &Path) -> AuditLog {
    AuditLog::new(AuditFile { path: Some(path.to_owned()), size: SIZE }, Rigour::Required)
}

/// The file whose appearance starts a writer's round.
fn go(path: &Path, writer: &str) -> PathBuf {
    let round = writer.split('.').next().unwrap();
    path.parent().unwrap().with_extension(format!("go-{round}"))
}

/// All kept lines, oldest first.
fn kept(path: &Path) -> Vec<String> {
    let aside = (1..=KEPT).rev().map(|number| numbered(path, &number.to_string()));
    let texts = aside.chain([path.to_owned()]).filter_map(|path| fs::read_to_string(path).ok());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// R91: no line is torn, or lost while the kept files can hold it, and there are no more files than that.
#[test]
fn lines_of_many_processes_outlast_a_change_of_files() {
    if let [Ok(path), Ok(writer)] = TASK.map(std::env::var) {
        let log = log(Path::new(&path));
        // All writers start at once.
        while !go(Path::new(&path), &writer).exists() {
            std::thread::yield_now();
        }
        return (0..LINES).for_each(|number| log.write(&Line::new(&writer, number)).unwrap());
    }
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    let path = logs.join("audit.jsonl");
    for round in 0..ROUNDS {
        let writers: Vec<String> = (0..WRITERS).map(|writer| format!("{round}.{writer}")).collect();
        let start = |writer: &String| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let name = "audit::log::tests::lines_of_many_processes_outlast_a_change_of_files";
            command.args(["--exact", name]).env(TASK[0], &path).env(TASK[1], writer);
            command.stdout(std::process::Stdio::null()).spawn().unwrap()
        };
        let children: Vec<_> = writers.iter().map(start).collect();
        fs::write(go(&path, &writers[0]), "").unwrap();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let mut found: BTreeMap<Line, usize> = BTreeMap::new();
        for line in kept(&path) {
            let line = serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}"));
            *found.entry(line).or_default() += 1;
        }
        for number in 1..=KEPT {
            let aside = fs::metadata(numbered(&path, &number.to_string()));
            assert!(
                aside.is_err() || aside.is_ok_and(|file| file.len() >= SIZE),
                "{number} was put aside early"
            );
        }
        for writer in &writers {
            for number in 0..LINES {
                assert_eq!(found.get(&Line::new(writer, number)), Some(&1), "line {number} of {writer}");
            }
        }
    }
    let mut files: Vec<_> = fs::read_dir(&logs).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(
        files,
        [
            "audit.jsonl",
            "audit.jsonl.1",
            "audit.jsonl.2",
            "audit.jsonl.3",
            "audit.jsonl.4",
            "audit.jsonl.lock"
        ]
    );
}

/// R91: a writer was held up until its file became the oldest and was deleted.
#[test]
fn a_line_in_a_file_that_is_gone_counts_as_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let mut file = open(&path).unwrap();
    assert_eq!(append(&mut file, b"1\n").unwrap(), Fate::Kept);
    fs::rename(&path, numbered(&path, "1")).unwrap();
    assert_eq!(append(&mut file, b"2\n").unwrap(), Fate::Kept, "a rotated file is kept");
    fs::remove_file(numbered(&path, "1")).unwrap();
    assert_eq!(append(&mut file, b"3\n").unwrap(), Fate::Gone);
}

/// R91, F14: a full disk holds half a line, without room for its newline.
#[cfg(unix)]
#[test]
fn a_line_after_one_that_broke_off_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let (first, second) = (Line::new("a", 1), Line::new("a", 2));
    fs::write(&path, r#"{"writer":"a","numb"#).unwrap();
    log(&path).write(&first).unwrap();
    log(&path).write(&second).unwrap();
    let lines = kept(&path);
    assert_eq!(lines.len(), 3, "{lines:?}");
    let read = |line: &String| serde_json::from_str::<Line>(line).unwrap();
    assert_eq!((read(&lines[1]), read(&lines[2])), (first, second));
}
