//! Containers of a Docker engine keep the contract of `Executor`: with this machine's own programs, and in an
//! image with odd values for every setting.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    exec_testkit::main(async || vec![linux::host_image().await, linux::odd_image().await])
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
    use exec_docker::{ContainerConfig, DockerConfig, DockerExec, InitPlacement};
    use exec_testkit::Subject;

    /// Every container is made on demand, with PID 1 mounted from this machine.
    pub(crate) async fn host_image() -> Subject {
        subject("docker-host-image", ContainerConfig { warm_cells: 0, ..ContainerConfig::default() }).await
    }

    /// Containers are kept warm, with PID 1 in a volume of the engine.
    pub(crate) async fn odd_image() -> Subject {
        let label = "docker-odd-image-pooled";
        let image = match exec_testkit::odd_image("docker") {
            Ok(image) => image.to_owned(),
            Err(error) => {
                return Subject { label: label.into(), engine: "docker", executor: Err(error.to_string()) };
            }
        };
        let (image, init) = (Some(image), InitPlacement::Volume);
        subject(label, ContainerConfig { image, init, warm_cells: 2, ..ContainerConfig::default() }).await
    }

    async fn subject(label: &str, containers: ContainerConfig) -> Subject {
        let executor = match DockerExec::new(DockerConfig { containers, ..DockerConfig::default() }).await {
            Ok(executor) => Ok(Arc::new(executor) as Arc<dyn Executor>),
            Err(error) => Err(error.to_string()),
        };
        Subject { label: label.to_owned(), engine: "docker", executor }
    }
}
