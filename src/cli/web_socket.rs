//! WebSockets of a server, over the same connection, certificates and token as everything else.

use actix_http::ws::{Codec, hash_key};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Method, StatusCode, Upgraded};
use tokio_util::codec::Framed;
use uuid::Uuid;

use super::client::{Client, ClientFault, unreachable};
use super::problem::Problem;

/// Largest message that is taken, in bytes.
const MAX_MESSAGE: usize = 1024 * 1024;

/// Both directions of an open WebSocket.
pub type WebSocket = Framed<Upgraded, Codec>;

impl Client {
    /// Opens the WebSocket at `path`.
    ///
    /// # Errors
    /// No answer, a refusal, or an answer that opens none.
    pub async fn web_socket(&self, path: &str) -> Result<WebSocket, ClientFault> {
        let failed = |fault: reqwest::Error| unreachable(self.connection(), &fault);
        let key = STANDARD.encode(Uuid::new_v4().as_bytes());
        let request = self.request(Method::GET, path);
        let request = request.header("Connection", "Upgrade").header("Upgrade", "websocket");
        let request = request.header("Sec-WebSocket-Version", "13").header("Sec-WebSocket-Key", &key);
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        if status != StatusCode::SWITCHING_PROTOCOLS {
            let text = response.text().await.map_err(failed)?;
            return Err(ClientFault::Refused(Box::new(Problem::read(status.as_u16(), &text))));
        }
        let accepted =
            response.headers().get("Sec-WebSocket-Accept").map(reqwest::header::HeaderValue::as_bytes);
        if accepted != Some(&hash_key(key.as_bytes())[..]) {
            let reason = "it opens no WebSocket".to_owned();
            return Err(ClientFault::NotUnderstood { path: path.to_owned(), reason });
        }
        let stream = response.upgrade().await.map_err(failed)?;
        Ok(Framed::new(stream, Codec::new().client_mode().max_size(MAX_MESSAGE)))
    }
}
