//! Volumes, and uploads into containers.

use std::collections::HashMap;

use bollard::models::{Volume, VolumeCreateRequest};
use bollard::query_parameters::{
    ContainerArchiveInfoOptionsBuilder, ListVolumesOptionsBuilder, RemoveVolumeOptions,
    UploadToContainerOptionsBuilder,
};
use bytes::Bytes;
use exec_core::Result;

use super::{Engine, Listed, is_conflict, is_not_found};

impl Engine {
    /// Creates a volume. An existing volume of this name stays as it is.
    pub(crate) async fn create_volume(&self, name: &str, labels: HashMap<String, String>) -> Result<()> {
        let request =
            VolumeCreateRequest { name: Some(name.to_owned()), labels: Some(labels), ..Default::default() };
        self.bounded(self.patience.make, "create volume", name, self.docker.create_volume(request))
            .await
            .map(drop)
    }

    /// Lists volumes with this label.
    pub(crate) async fn list_volumes(&self, label: &str) -> Result<Vec<Listed>> {
        let filters = HashMap::from([("label".to_owned(), vec![label.to_owned()])]);
        let options = ListVolumesOptionsBuilder::default().filters(&filters).build();
        let found = self.docker.list_volumes(Some(options));
        let found = self.bounded(self.patience.ask, "list", "volumes", found).await?;
        // A volume has no id besides its name.
        let listed = |Volume { name, labels, .. }| Listed { id: name.clone(), name, labels };
        Ok(found.volumes.unwrap_or_default().into_iter().map(listed).collect())
    }

    /// Removes an unused volume; returns `false` if it is in use. A volume that does not exist is not an error.
    pub(crate) async fn remove_volume(&self, name: &str) -> Result<bool> {
        let removed = self.docker.remove_volume(name, None::<RemoveVolumeOptions>);
        match self.bounded(self.patience.remove, "remove volume", name, removed).await {
            Ok(()) => Ok(true),
            Err(error) if is_not_found(&error) => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The size of a file in a container, if it exists.
    pub(crate) async fn file_size(&self, container: &str, path: &str) -> Result<Option<i64>> {
        let options = ContainerArchiveInfoOptionsBuilder::default().path(path).build();
        let asked = self.docker.get_container_archive_info(container, Some(options));
        match self.bounded(self.patience.ask, "look into", container, asked).await {
            Ok(found) => Ok(Some(found.size)),
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Unpacks an archive into a directory of a container, which need not be running.
    pub(crate) async fn upload(&self, container: &str, directory: &str, archive: Vec<u8>) -> Result<()> {
        let options = UploadToContainerOptionsBuilder::default().path(directory).build();
        let body = bollard::body_full(Bytes::from(archive));
        let uploaded = self.docker.upload_to_container(container, Some(options), body);
        self.bounded(self.patience.make, "put files into", container, uploaded).await
    }
}
