//! A registry with one image, on this machine's loopback: just enough of the protocol for a pull.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use anyhow::Result;
use serde_json::json;

use crate::private::digest;
use crate::sample::{Sample, config, layer};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// What is served: the kind and the bytes, by path.
type Pages = HashMap<String, (&'static str, Vec<u8>)>;

/// It serves until the test's process ends.
pub(crate) struct Registry {
    address: SocketAddr,
    /// The digest of the image.
    pub(crate) digest: String,
}

impl Registry {
    /// Serves this image as `sample:1`.
    pub(crate) fn start(sample: &Sample<'_>) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let mut pages = Pages::from([("/v2/".to_owned(), ("application/json", b"{}".to_vec()))]);
        let mut blob = |name: &str| -> Result<(String, usize)> {
            let (bytes, digest) = stored(&directory.path().join(name))?;
            let size = bytes.len();
            pages.insert(format!("/v2/sample/blobs/{digest}"), ("application/octet-stream", bytes));
            Ok((digest, size))
        };
        layer(directory.path(), "layer.tar")?;
        let (layer, layer_size) = blob("layer.tar")?;
        fs::write(directory.path().join("config.json"), config(sample, &layer).to_string())?;
        let (config, config_size) = blob("config.json")?;
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {
                "mediaType": "application/vnd.oci.image.config.v1+json", "digest": config, "size": config_size
            },
            "layers": [{
                "mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": layer, "size": layer_size
            }],
        });
        fs::write(directory.path().join("manifest.json"), manifest.to_string())?;
        let (bytes, digest) = stored(&directory.path().join("manifest.json"))?;
        for name in ["1", &digest] {
            pages.insert(format!("/v2/sample/manifests/{name}"), (MANIFEST, bytes.clone()));
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let registry = Self { address: listener.local_addr()?, digest };
        let named = registry.digest.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client may close the connection early.
                let _ = answer(&stream, &pages, &named);
            }
        });
        Ok(registry)
    }

    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }
}

fn stored(path: &Path) -> Result<(Vec<u8>, String)> {
    Ok((fs::read(path)?, digest(path)?))
}

/// One request per connection.
fn answer(mut stream: &TcpStream, pages: &Pages, digest: &str) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let question = lines.next().transpose()?.unwrap_or_default();
    // The rest of the request does not matter, but has to be read.
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let mut words = question.split(' ');
    let (method, path) = (words.next(), words.next().unwrap_or_default());
    let missing = ("application/json", b"{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\"}]}".to_vec());
    let (status, (kind, bytes)) = match pages.get(path) {
        Some(page) => ("200 OK", page),
        None => ("404 Not Found", &missing),
    };
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: {kind}\r\n")?;
    if *kind == MANIFEST {
        write!(stream, "Docker-Content-Digest: {digest}\r\n")?;
    }
    write!(stream, "Content-Length: {}\r\n\r\n", bytes.len())?;
    if method == Some("GET") { stream.write_all(bytes) } else { Ok(()) }
}
