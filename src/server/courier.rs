//! Calling targets of callbacks over HTTP: signed, only where they may be, never redirected.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use cooperage_actors::callbacks::{Courier, Letter, Reply};
use cooperage_domain::callback::Networks;
use cooperage_domain::invalid::Invalid;
use futures::FutureExt;
use futures::future::BoxFuture;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use sha2::Sha256;
use tokio::runtime::Handle;
use url::Host;

/// How much of an answer is read, in bytes.
const ANSWER_READ: usize = 4096;
/// How long a connection that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(30);
/// What targets are told about who calls.
const AGENT: &str = concat!("Cooperage/", env!("CARGO_PKG_VERSION"));

/// Calls targets over HTTP.
pub struct HttpCourier {
    /// For targets that tenants chose.
    bounded: Client,
    /// For those of the settings.
    free: Client,
    networks: Arc<Networks>,
    runtime: Handle,
}

impl HttpCourier {
    /// Calls are made on `runtime`; those for tenants only within `networks`.
    ///
    /// # Errors
    /// When there can be no client.
    pub fn new(networks: Networks, runtime: Handle) -> Result<Self, Invalid> {
        let networks = Arc::new(networks);
        let resolver = Arc::new(Resolver(Arc::clone(&networks)));
        let bounded = client(Client::builder().dns_resolver(resolver))?;
        Ok(Self { bounded, free: client(Client::builder())?, networks, runtime })
    }
}

fn client(builder: ClientBuilder) -> Result<Client, Invalid> {
    let builder = builder.redirect(Policy::none()).no_proxy().user_agent(AGENT).pool_idle_timeout(IDLE);
    builder.build().map_err(|fault| {
        let remedy = "see that this host has certificates of authorities (Debian: ca-certificates)";
        Invalid::new("callbacks", "", format!("cannot be called: {fault}"), remedy)
    })
}

impl Courier for HttpCourier {
    fn send(&self, letter: Letter) -> BoxFuture<'static, Reply> {
        let client = if letter.is_trusted { self.free.clone() } else { self.bounded.clone() };
        let networks = (!letter.is_trusted).then(|| Arc::clone(&self.networks));
        let call = self.runtime.spawn(async move { post(&client, networks.as_deref(), letter).await });
        let broken_off = || Reply { fault: Some("the server is stopping".to_owned()), ..Reply::default() };
        async move { call.await.unwrap_or_else(|_| broken_off()) }.boxed()
    }
}

async fn post(client: &Client, networks: Option<&Networks>, letter: Letter) -> Reply {
    let failed = |fault: String| Reply { fault: Some(fault), ..Reply::default() };
    let url = match target(&letter.url, networks) {
        Ok(url) => url,
        Err(fault) => return failed(format!("{} {}", fault.field, fault.fault)),
    };
    let seconds = letter.at / 1000;
    let mut request = client
        .post(url)
        .timeout(letter.timeout)
        .header("Content-Type", "application/json")
        .header("X-Cooperage-Event", letter.event.as_str())
        .header("X-Cooperage-Delivery", &letter.id)
        .header("X-Cooperage-Timestamp", seconds);
    if let Some(secret) = &letter.secret {
        request = request.header("X-Cooperage-Signature", signature(secret, seconds, &letter.body));
    }
    let mut answer = match request.body(letter.body).send().await {
        Ok(answer) => answer,
        Err(fault) => return failed(said(&fault)),
    };
    let code = Some(answer.status().as_u16());
    let mut read: Vec<u8> = Vec::new();
    // An answer that breaks off has said what counts: its status.
    while let Ok(Some(part)) = answer.chunk().await {
        read.extend_from_slice(&part[..part.len().min(ANSWER_READ - read.len())]);
        if read.len() == ANSWER_READ {
            break;
        }
    }
    Reply { code, answer: String::from_utf8_lossy(&read).into_owned(), fault: None }
}

/// What shows that a call is ours: `sha256=` and the HMAC of the time, a dot and the body, in hexadecimal digits.
fn signature(secret: &str, seconds: i64, body: &str) -> String {
    // A key for HMAC may have any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(format!("{seconds}.{body}").as_bytes());
    let digits = mac.finalize().into_bytes();
    digits.iter().fold("sha256=".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// Why there was no answer, down to the cause, without the address: it may hold what only its owner should know.
fn said(fault: &reqwest::Error) -> String {
    if fault.is_timeout() {
        return "it did not answer in time".to_owned();
    }
    let mut cause: &dyn Error = fault;
    while let Some(next) = cause.source() {
        cause = next;
    }
    match fault.is_connect() {
        true => format!("it cannot be reached: {cause}"),
        false => format!("it did not answer: {cause}"),
    }
}

/// The address of a target, if it may be called: over HTTP, without a password in it, and, where an address of the network
/// stands in it, in a network that is allowed.
///
/// # Errors
/// What is wrong with it.
pub fn target(text: &str, networks: Option<&Networks>) -> Result<Url, Invalid> {
    let refuse = |fault: &str, remedy: &str| Err(Invalid::new("url", text, fault, remedy));
    let Ok(url) = text.parse::<Url>() else {
        return refuse("is no URL", "write it like https://ci.example.com/hooks/cooperage");
    };
    if !matches!(url.scheme(), "http" | "https") {
        return refuse("is not reached over HTTP", "use https:// or http://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        let remedy = "leave them out: calls are signed with the callback's secret";
        return Err(Invalid::new("url", "(not shown)", "holds a user or a password", remedy));
    }
    let address = match url.host() {
        None => return refuse("names no host", "write it like https://ci.example.com/hooks/cooperage"),
        Some(Host::Ipv4(address)) => Some(IpAddr::from(address)),
        Some(Host::Ipv6(address)) => Some(IpAddr::from(address)),
        Some(Host::Domain(_)) => None,
    };
    if let (Some(address), Some(networks)) = (address, networks)
        && !networks.permit(address)
    {
        return refuse(FORBIDDEN, "have the operator add the network to callbacks.allow_networks");
    }
    Ok(url)
}

/// What is said of an address where no target may be.
const FORBIDDEN: &str = "is in a network where callbacks may not go (callbacks.deny_networks)";

/// Looks up names, and passes over addresses where no target may be: what a name stands for may change at any time.
struct Resolver(Arc<Networks>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let networks = Arc::clone(&self.0);
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed: Vec<SocketAddr> =
                found.iter().copied().filter(|address| networks.permit(address.ip())).collect();
            if allowed.is_empty() && !found.is_empty() {
                return Err(format!("the host {FORBIDDEN}").into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_that_others_compute() {
        // echo -n '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key
        let expected = "sha256=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03";
        assert_eq!(signature("key", 1_700_000_000, r#"{"a":1}"#), expected);
    }

    #[test]
    fn targets_are_urls_of_http_in_networks_that_are_allowed() {
        let deny = ["127.0.0.0/8", "169.254.0.0/16", "::1/128"].map(str::to_owned);
        let networks = Networks::new(&[], &deny).unwrap();
        let fault = |text: &str| target(text, Some(&networks)).unwrap_err().fault;
        for denied in [
            "http://127.0.0.1:8080/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:169.254.169.254]/latest",
        ] {
            assert_eq!(fault(denied), FORBIDDEN, "{denied}");
            assert!(target(denied, None).is_ok(), "the operator's may be anywhere");
        }
        assert!(target("https://ci.example.com/x?y=1", Some(&networks)).is_ok());
        assert!(target("http://10.0.0.1", Some(&networks)).is_ok());
        assert_eq!(fault("ftp://ci.example.com"), "is not reached over HTTP");
        assert_eq!(fault("file:///etc/passwd"), "is not reached over HTTP");
        assert_eq!(fault("ci.example.com"), "is no URL");
        let named = target("https://ann:pa55@ci.example.com", None).unwrap_err();
        assert!(!named.to_string().contains("pa55"), "{named}");
    }
}
