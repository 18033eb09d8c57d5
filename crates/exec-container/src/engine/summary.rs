//! The fields of listed containers that we need.

use std::collections::HashMap;

use bollard::errors::Error as ClientError;
use bollard::models::ContainerSummary;
use serde_json::Value;

use super::Listed;

/// A container in a list.
#[derive(Debug)]
pub(super) struct Summary {
    id: Option<String>,
    names: Option<Vec<String>>,
    labels: Option<HashMap<String, String>>,
}

impl From<ContainerSummary> for Summary {
    fn from(container: ContainerSummary) -> Self {
        Self { id: container.id, names: container.names, labels: container.labels }
    }
}

impl Summary {
    /// Parses a list that the client rejects. Podman has states the client does not know, such as `stopped` for a
    /// container that has ended and was not cleaned up; one of those must not hide all others. We don't need the
    /// states.
    pub(super) fn read(error: ClientError) -> Result<Vec<Self>, ClientError> {
        let ClientError::JsonDataError { contents, .. } = &error else { return Err(error) };
        let Ok(list) = serde_json::from_str::<Vec<Value>>(contents) else { return Err(error) };
        Ok(list.iter().map(Self::from_value).collect())
    }

    fn from_value(container: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let labels = |labels: &serde_json::Map<String, Value>| {
            labels.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
        };
        Self {
            id: text(&container["Id"]),
            names: container["Names"].as_array().map(|names| names.iter().filter_map(text).collect()),
            labels: container["Labels"].as_object().map(labels),
        }
    }

    pub(super) fn listed(self) -> Option<Listed> {
        let name = self.names?.into_iter().next()?.trim_start_matches('/').to_owned();
        Some(Listed { id: self.id?, name, labels: self.labels.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreadable(contents: &str) -> ClientError {
        let message = "unknown variant `stopped`".to_owned();
        ClientError::JsonDataError { message, contents: contents.to_owned(), column: 1 }
    }

    /// F5: Podman 4.3 answers like this while a container is being stopped.
    #[test]
    fn a_state_that_nobody_knows_hides_nothing() {
        let answer = r#"[{"Id":"1","Names":["/a"],"Labels":{"x":"y"},"State":"stopped"},{"Id":"2","Names":null},{"Id":"3","Names":["/b"]}]"#;
        serde_json::from_str::<Vec<ContainerSummary>>(answer).unwrap_err();
        let listed = Summary::read(unreadable(answer)).unwrap().into_iter().filter_map(Summary::listed);
        let names: Vec<String> = listed.map(|listed| listed.name).collect();
        assert_eq!(names, ["a", "b"]);
        Summary::read(unreadable("{}")).unwrap_err();
    }
}
