//! The system packages that a project's dependencies need to be built: a table.

use std::collections::BTreeSet;

use crate::part::{Language, Part};

/// A dependency and what it needs.
struct Row {
    language: Language,
    /// A name, or a prefix if it ends in `*`.
    dependency: &'static str,
    library: Library,
}

/// A system library, by its Debian and Alpine packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Library {
    /// Several are separated by spaces.
    pub(crate) debian: &'static str,
    pub(crate) alpine: &'static str,
}

const fn library(debian: &'static str, alpine: &'static str) -> Library {
    Library { debian, alpine }
}

/// What an unknown base image needs: a compiler and tools that fetch sources.
pub(crate) const BUILD_TOOLS: Library =
    library("build-essential ca-certificates git pkg-config", "build-base ca-certificates git pkgconf");
pub(crate) const GIT: Library = library("git", "git");

const CLANG: Library = library("clang libclang-dev", "clang clang-dev");
const CMAKE: Library = library("cmake", "cmake");
const CURL: Library = library("libcurl4-openssl-dev", "curl-dev");
const FFI: Library = library("libffi-dev", "libffi-dev");
const GRAPHICS: Library = library(
    "libcairo2-dev libgif-dev libjpeg-dev libpango1.0-dev librsvg2-dev",
    "cairo-dev giflib-dev jpeg-dev pango-dev librsvg-dev",
);
const JPEG: Library = library("libjpeg-dev zlib1g-dev", "jpeg-dev zlib-dev");
const KAFKA: Library = library("librdkafka-dev", "librdkafka-dev");
const LDAP: Library = library("libldap2-dev libsasl2-dev", "openldap-dev cyrus-sasl-dev");
const MAGICK: Library = library("libmagickwand-dev", "imagemagick-dev");
const MYSQL: Library = library("default-libmysqlclient-dev", "mariadb-connector-c-dev");
const ODBC: Library = library("unixodbc-dev", "unixodbc-dev");
const POSTGRES: Library = library("libpq-dev", "libpq-dev");
const PROTOC: Library = library("protobuf-compiler", "protobuf-dev");
const PYTHON: Library = library("python3", "python3");
const SQLITE: Library = library("libsqlite3-dev", "sqlite-dev");
const TLS: Library = library("libssl-dev pkg-config", "openssl-dev pkgconf");
const UDEV: Library = library("libudev-dev pkg-config", "eudev-dev pkgconf");
const USB: Library = library("libusb-1.0-0-dev", "libusb-dev");
const VIPS: Library = library("libvips-dev", "vips-dev");
const XML: Library = library("libxml2-dev libxslt1-dev", "libxml2-dev libxslt-dev");
const YAML: Library = library("libyaml-dev", "yaml-dev");
const ZMQ: Library = library("libzmq3-dev", "zeromq-dev");

const fn row(language: Language, dependency: &'static str, library: Library) -> Row {
    Row { language, dependency, library }
}

const ROWS: &[Row] = &[
    row(Language::Go, "github.com/confluentinc/confluent-kafka-go*", KAFKA),
    row(Language::Go, "github.com/go-ldap/ldap-c*", LDAP),
    row(Language::Go, "github.com/google/gousb", USB),
    row(Language::Go, "github.com/h2non/bimg", VIPS),
    row(Language::Go, "github.com/pebbe/zmq4", ZMQ),
    row(Language::Go, "gopkg.in/gographics/imagick*", MAGICK),
    row(Language::Node, "canvas", GRAPHICS),
    row(Language::Node, "libpq", POSTGRES),
    row(Language::Node, "node-gyp", PYTHON),
    row(Language::Node, "node-rdkafka", KAFKA),
    row(Language::Node, "pg-native", POSTGRES),
    row(Language::Node, "usb", UDEV),
    row(Language::Node, "zeromq", ZMQ),
    row(Language::Python, "cffi", FFI),
    row(Language::Python, "confluent-kafka", KAFKA),
    row(Language::Python, "lxml", XML),
    row(Language::Python, "mysqlclient", MYSQL),
    row(Language::Python, "pillow", JPEG),
    row(Language::Python, "psycopg", POSTGRES),
    row(Language::Python, "psycopg2", POSTGRES),
    row(Language::Python, "pycurl", CURL),
    row(Language::Python, "pyodbc", ODBC),
    row(Language::Python, "python-ldap", LDAP),
    row(Language::Ruby, "charlock_holmes", library("libicu-dev", "icu-dev")),
    row(Language::Ruby, "curb", CURL),
    row(Language::Ruby, "ffi", FFI),
    row(Language::Ruby, "mysql2", MYSQL),
    row(Language::Ruby, "nokogiri", XML),
    row(Language::Ruby, "pg", POSTGRES),
    row(Language::Ruby, "psych", YAML),
    row(Language::Ruby, "rmagick", MAGICK),
    row(Language::Ruby, "sqlite3", SQLITE),
    row(Language::Rust, "alsa-sys", library("libasound2-dev pkg-config", "alsa-lib-dev pkgconf")),
    row(Language::Rust, "bindgen", CLANG),
    row(Language::Rust, "cmake", CMAKE),
    row(Language::Rust, "curl-sys", CURL),
    row(Language::Rust, "libsqlite3-sys", SQLITE),
    row(Language::Rust, "libudev-sys", UDEV),
    row(Language::Rust, "mysqlclient-sys", MYSQL),
    row(Language::Rust, "openssl-sys", TLS),
    row(Language::Rust, "pq-sys", POSTGRES),
    row(Language::Rust, "prost-build", PROTOC),
    row(Language::Rust, "rdkafka-sys", CMAKE),
    row(Language::Rust, "zmq-sys", ZMQ),
];

/// Adds the libraries these dependencies need to a part, each with its reason.
pub(crate) fn add(part: &mut Part, dependencies: &BTreeSet<String>) {
    let language = part.language;
    for row in ROWS.iter().filter(|row| row.language == language) {
        let Some(found) = dependencies.iter().find(|name| row.names(name)) else { continue };
        part.libraries.insert(row.library);
        part.because(row.library.debian, format!("{found} is built against it"));
    }
}

impl Row {
    fn names(&self, dependency: &str) -> bool {
        match self.dependency.strip_suffix('*') {
            Some(beginning) => dependency.starts_with(beginning),
            None => dependency == self.dependency,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        let keys: Vec<_> = ROWS.iter().map(|row| (row.language.name(), row.dependency)).collect();
        assert!(keys.is_sorted(), "{keys:?}");
    }
}
