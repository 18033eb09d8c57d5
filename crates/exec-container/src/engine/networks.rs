//! Networks. We make none; what carries our labels is cleaned up all the same.

use std::collections::HashMap;

use bollard::models::Network;
use bollard::query_parameters::ListNetworksOptionsBuilder;
use exec_core::Result;

use super::{Engine, Listed, is_in_use, is_not_found};

impl Engine {
    /// Networks that have this label.
    pub(crate) async fn list_networks(&self, label: &str) -> Result<Vec<Listed>> {
        let filters = HashMap::from([("label".to_owned(), vec![label.to_owned()])]);
        let options = ListNetworksOptionsBuilder::default().filters(&filters).build();
        let found = self.docker.list_networks(Some(options));
        let found = self.bounded(self.patience.ask, "list", "networks", found).await?;
        let listed = |Network { id, name, labels, .. }| {
            Some(Listed { id: id?, name: name?, labels: labels.unwrap_or_default() })
        };
        Ok(found.into_iter().filter_map(listed).collect())
    }

    /// Removes a network that no container is on; false if one is. One that is not there is removed.
    ///
    /// By its name: asked by the id, Podman takes it away from under its containers. Docker refuses a name that two have.
    pub(crate) async fn remove_network(&self, name: &str) -> Result<bool> {
        let removed = self.docker.remove_network(name);
        match self.bounded(self.patience.remove, "remove network", name, removed).await {
            Ok(()) => Ok(true),
            Err(error) if is_not_found(&error) => Ok(true),
            Err(error) if is_in_use(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
