//! Loopback HTTP (MCP's streamable HTTP), for clients that can't start a program.
//!
//! The token identifies the client: all connections with it share one sandbox, which lasts as long as the server. The
//! server listens on loopback addresses only. A request without the token, or from a web page, is refused before the
//! protocol sees it.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use exec_core::{Error, ErrorKind, Result};
use http::{Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::Server;
use crate::lobby::{Guest, Lobby};

/// The time for a request's head, counted from the opening of the connection or the previous response. Clients
/// reconnect.
const HEAD: Duration = Duration::from_secs(30);

/// The time for a request's whole body.
const BODY: Duration = Duration::from_secs(60);

/// The largest request body.
const MOST_BYTES: usize = 16 << 20;

/// The path of the protocol's endpoint.
const PATH: &str = "/mcp";

/// The client's secret. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Creates a token from text.
    ///
    /// # Errors
    ///
    /// Refuses a token that could be guessed.
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

/// A listening socket that does not serve yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens on a loopback address; port 0 selects a free one.
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

    /// The URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until `stop` is cancelled. Nothing is running any more when it returns.
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
        let (door, lobby) = (Arc::new(Door { token, protocol }), Arc::new(Lobby::default()));
        loop {
            let stream = tokio::select! {
                accepted = self.socket.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // Most likely out of descriptors; open connections may close.
                        tracing::warn!(%error, "can't accept a connection");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
                () = stop.cancelled() => break,
            };
            tokio::spawn(attend(stream, Arc::clone(&door), lobby.enter()));
        }
        server.toolbox().close().await
    }
}

/// Serves a connection to its end.
async fn attend(stream: TcpStream, door: Arc<Door>, guest: Guest) {
    // A response is many small writes; Nagle's delay costs more than it saves.
    let _ = stream.set_nodelay(true);
    let guest = Arc::new(guest);
    let known = Arc::clone(&guest);
    let answer = service_fn(move |request| Arc::clone(&door).answer(request, Arc::clone(&known)));
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let ended = tokio::select! {
        ended = builder.serve_connection(TokioIo::new(stream), answer) => ended,
        () = guest.dismissed() => return tracing::debug!("a connection without the token gave way"),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

type Protocol = StreamableHttpService<Server, LocalSessionManager>;

/// Checks requests before the protocol sees them.
struct Door {
    token: Token,
    protocol: Protocol,
}

impl Door {
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        guest: Arc<Guest>,
    ) -> std::result::Result<Response<BoxBody<Bytes, Infallible>>, Infallible> {
        let given = request.headers().get(header::AUTHORIZATION).map(http::HeaderValue::as_bytes);
        let known = given
            .and_then(|given| given.strip_prefix(b"Bearer "))
            .is_some_and(|token| self.token.matches(token));
        if !known {
            return Ok(refuse(StatusCode::UNAUTHORIZED, "send the token as `Authorization: Bearer TOKEN`\n"));
        }
        guest.admit();
        if request.uri().path() != PATH {
            return Ok(refuse(StatusCode::NOT_FOUND, "the server is at /mcp\n"));
        }
        let (head, body) = request.into_parts();
        let whole = tokio::time::timeout(BODY, Limited::new(body, MOST_BYTES).collect()).await;
        Ok(match whole {
            Ok(Ok(body)) => {
                let request = Request::from_parts(head, Full::new(body.to_bytes()));
                self.protocol.handle(request).await
            }
            Ok(Err(_)) => refuse(StatusCode::PAYLOAD_TOO_LARGE, "the request broke off, or is too large\n"),
            Err(_) => refuse(StatusCode::REQUEST_TIMEOUT, "the request took too long\n"),
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
