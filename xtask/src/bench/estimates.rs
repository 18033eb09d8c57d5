//! Reads criterion's results: one directory per bench, `GROUP/FUNCTION/new/estimates.json`.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use serde::Deserialize;

/// Median time of one iteration in nanoseconds, by `group/function`.
pub(crate) type Medians = BTreeMap<String, f64>;

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

/// The medians written after `start`. Older ones are from another run, and ratios compare figures of one run
/// only.
pub(crate) fn medians_since(criterion: &Path, start: SystemTime) -> Result<Medians> {
    let mut medians = Medians::new();
    for group in folders(criterion)? {
        for function in folders(&group)? {
            let file = function.join("new").join("estimates.json");
            let Some(median) = median_since(&file, start)? else { continue };
            medians.insert(format!("{}/{}", name(&group), name(&function)), median);
        }
    }
    Ok(medians)
}

fn median_since(file: &Path, start: SystemTime) -> Result<Option<f64>> {
    let modified = match fs::metadata(file).and_then(|metadata| metadata.modified()) {
        Ok(modified) => modified,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot look at {}", file.display())),
    };
    if modified < start {
        return Ok(None);
    }
    let json = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    parse(&json).with_context(|| format!("cannot understand {}", file.display())).map(Some)
}

fn parse(json: &str) -> Result<f64> {
    let estimates: Estimates = serde_json::from_str(json)?;
    Ok(estimates.median.point_estimate)
}

fn folders(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot list {}", dir.display())),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const ESTIMATES: &str = r#"{"mean":{"point_estimate":9.5},"median":{"confidence_interval":{},
        "point_estimate":8.25,"standard_error":0.1},"slope":null}"#;

    #[test]
    fn the_median_is_what_counts() {
        assert!((parse(ESTIMATES).unwrap() - 8.25).abs() < f64::EPSILON);
    }

    #[test]
    fn results_of_an_earlier_run_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let new = dir.path().join("spawn/tokio/new");
        fs::create_dir_all(&new).unwrap();
        fs::create_dir_all(dir.path().join("spawn/report")).unwrap();
        fs::write(new.join("estimates.json"), ESTIMATES).unwrap();

        let hour = Duration::from_secs(3600);
        let medians = medians_since(dir.path(), SystemTime::now() - hour).unwrap();
        assert_eq!(medians.keys().collect::<Vec<_>>(), ["spawn/tokio"]);
        assert!(medians_since(dir.path(), SystemTime::now() + hour).unwrap().is_empty());
    }

    #[test]
    fn without_results_there_are_no_medians() {
        assert!(medians_since(Path::new("/nowhere/criterion"), SystemTime::now()).unwrap().is_empty());
    }
}
