//! Local cells keep the contract of `Executor`, with every kind of walls.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use exec_local::WallsChoice::{Namespaces, Subreaper};

    exec_testkit::main(async || {
        vec![
            linux::subject("local-namespaces", Namespaces, 0).await,
            linux::subject("local-namespaces-pooled", Namespaces, 2).await,
            linux::subject("local-subreaper", Subreaper, 0).await,
        ]
    })
}

/// The cases need a program built for Linux.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::Arc;

    use exec_core::Executor;
    use exec_local::{LocalConfig, LocalExec, WallsChoice};
    use exec_testkit::Subject;

    pub(crate) async fn subject(label: &str, walls: WallsChoice, warm_cells: usize) -> Subject {
        let config = LocalConfig { walls, warm_cells, ..LocalConfig::default() };
        let executor = match LocalExec::new(config).await {
            Ok(executor) => Ok(Arc::new(executor) as Arc<dyn Executor>),
            Err(error) => Err(error.to_string()),
        };
        Subject { label: label.to_owned(), engine: "local", executor }
    }
}
