//! Clients on loopback HTTP (MCP's streamable HTTP), for those that can't start a program.
//!
//! Whoever has the token is the client: all its connections share one sandbox, which lasts as long as the server. Only
//! loopback addresses are listened on; a request without the token, or from a web page, is refused before the protocol sees it.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use exec_core::{Error, ErrorKind, Result};
use http::{Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Server;

/// Where the protocol is spoken.
const PATH: &str = "/mcp";

/// What a client must know. Not shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token of this text; one that could be guessed is refused.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        let fits = text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits {
            return Ok(Self(text));
        }
        Err(Error::new(
            ErrorKind::InvalidInput,
            "serve",
            "the token is shorter than 16 characters, or not plain text",
        )
        .with_remedy("use a long random one, like the output of `openssl rand -hex 32`"))
    }

    /// Compares in a time that does not depend on where the first difference is.
    fn matches(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differs = own.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b));
        own.len() == given.len() && differs == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Listens, and serves nobody yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens on a loopback address; port 0 takes any that is free.
    pub async fn bind(address: SocketAddr) -> Result<Self> {
        if !address.ip().is_loopback() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "serve",
                format!("{address} can be reached from elsewhere"),
            )
            .with_remedy("use 127.0.0.1:PORT, and an SSH tunnel for clients on other machines"));
        }
        let failed = |error| {
            Error::new(ErrorKind::Io, "serve", format!("can't listen on {address}"))
                .with_source(error)
                .with_remedy("choose another port; 0 takes any that is free")
        };
        let socket = TcpListener::bind(address).await.map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        Ok(Self { socket, address })
    }

    /// What clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until `stop` is cancelled. Nothing runs any more when it returns.
    pub async fn serve(self, server: Server, token: Token, stop: CancellationToken) -> Result<()> {
        let shared = server.clone();
        let config = StreamableHttpServerConfig::default()
            .enforce_origin_validation()
            .with_cancellation_token(stop.child_token());
        let protocol: Protocol = StreamableHttpService::new(
            move || Ok(shared.clone()),
            Arc::new(LocalSessionManager::default()),
            config,
        );
        let door = Arc::new(Door { token, protocol });
        loop {
            let stream = tokio::select! {
                accepted = self.socket.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // Out of descriptors, most likely; those that are open may close.
                        tracing::warn!(%error, "can't accept a connection");
                        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                        continue;
                    }
                },
                () = stop.cancelled() => break,
            };
            // An answer is many small writes; waiting to join them costs more than it saves.
            let _ = stream.set_nodelay(true);
            let door = Arc::clone(&door);
            tokio::spawn(async move {
                let answer = service_fn(move |request| Arc::clone(&door).answer(request));
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection ended");
                }
            });
        }
        server.toolbox().close().await
    }
}

type Protocol = StreamableHttpService<Server, LocalSessionManager>;

/// Who gets in.
struct Door {
    token: Token,
    protocol: Protocol,
}

impl Door {
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> std::result::Result<Response<BoxBody<Bytes, Infallible>>, Infallible> {
        let given = request.headers().get(header::AUTHORIZATION).map(http::HeaderValue::as_bytes);
        let known = given
            .and_then(|given| given.strip_prefix(b"Bearer "))
            .is_some_and(|token| self.token.matches(token));
        Ok(if !known {
            refuse(StatusCode::UNAUTHORIZED, "send the token as `Authorization: Bearer TOKEN`\n")
        } else if request.uri().path() != PATH {
            refuse(StatusCode::NOT_FOUND, "the server is at /mcp\n")
        } else {
            self.protocol.handle(request).await
        })
    }
}

fn refuse(status: StatusCode, why: &'static str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *response.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_matches_and_it_is_not_shown() {
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(token.matches(b"0123456789abcdef"));
        for wrong in [&b"0123456789abcdeg"[..], b"0123456789abcde", b"0123456789abcdef0", b""] {
            assert!(!token.matches(wrong));
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert!(Token::new("short").is_err());
    }
}
