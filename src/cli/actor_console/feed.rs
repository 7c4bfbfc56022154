//! The WebSocket of the console.

use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::cli::client::{Client, ClientFault, WebSocket};

/// An open connection.
pub struct Feed(WebSocket);

impl Feed {
    /// Opens one, by the client's TLS and in its name.
    ///
    /// # Errors
    /// No answer or a refusal.
    pub async fn open(client: &Client) -> Result<Self, ClientFault> {
        Ok(Self(client.web_socket("/console").await?))
    }

    /// Asks for something.
    pub async fn say(&mut self, what: &Value) -> Result<(), tungstenite::Error> {
        self.0.send(Message::text(what.to_string())).await
    }

    /// What the server says next; `None` when it says nothing more.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            match self.0.next().await?.ok()? {
                Message::Text(text) => return serde_json::from_str(&text).ok(),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }
}
