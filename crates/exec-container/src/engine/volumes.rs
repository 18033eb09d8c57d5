//! Volumes, and files put into containers.

use std::collections::HashMap;

use bollard::models::VolumeCreateRequest;
use bollard::query_parameters::{ContainerArchiveInfoOptionsBuilder, UploadToContainerOptionsBuilder};
use bytes::Bytes;
use exec_core::Result;

use super::{Engine, is_not_found};

impl Engine {
    /// Makes a volume; one of this name that is there already stays as it is.
    pub(crate) async fn create_volume(&self, name: &str, labels: HashMap<String, String>) -> Result<()> {
        let request =
            VolumeCreateRequest { name: Some(name.to_owned()), labels: Some(labels), ..Default::default() };
        self.bounded(self.patience.make, "create volume", name, self.docker.create_volume(request))
            .await
            .map(drop)
    }

    /// Size of a file in a container, if it is there.
    pub(crate) async fn file_size(&self, container: &str, path: &str) -> Result<Option<i64>> {
        let options = ContainerArchiveInfoOptionsBuilder::default().path(path).build();
        let asked = self.docker.get_container_archive_info(container, Some(options));
        match self.bounded(self.patience.ask, "look into", container, asked).await {
            Ok(found) => Ok(Some(found.size)),
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Unpacks an archive into a directory of a container, which need not run.
    pub(crate) async fn upload(&self, container: &str, directory: &str, archive: Vec<u8>) -> Result<()> {
        let options = UploadToContainerOptionsBuilder::default().path(directory).build();
        let body = bollard::body_full(Bytes::from(archive));
        let uploaded = self.docker.upload_to_container(container, Some(options), body);
        self.bounded(self.patience.make, "put files into", container, uploaded).await
    }
}
