//! Networks. We create none, but clean up those with our labels.

use std::collections::HashMap;

use bollard::models::Network;
use bollard::query_parameters::ListNetworksOptionsBuilder;
use exec_core::Result;

use super::{Engine, Listed, is_in_use, is_not_found};

impl Engine {
    /// Lists networks with this label.
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

    /// Removes an unused network; returns `false` if it is in use. A network that does not exist is not an error.
    ///
    /// It is removed by name: given an id, Podman removes it while containers use it. Docker refuses an ambiguous
    /// name.
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
