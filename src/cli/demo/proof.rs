//! The proof that the web cluster works: asked through the load balancer, every web node answers, and all of them count
//! visits together.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::cli::cluster::shapes::{Details, Node};
use crate::cli::failure::Failure;
use crate::client_tls::without_tls;

/// How long the whole proof may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// Pause after an answer that was none.
const PAUSE: Duration = Duration::from_millis(250);

/// What was heard so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Proof {
    address: String,
    answered: BTreeSet<String>,
    first: Option<u64>,
    last: Option<u64>,
    answers: u64,
}

impl Proof {
    /// Hears `NODE COUNT`.
    ///
    /// # Errors
    /// When it is none, or does not count on from the answer before.
    fn hear(&mut self, answer: &str) -> Result<(), String> {
        let (node, count) =
            answer.trim().split_once(' ').ok_or_else(|| format!("{answer:?} is not NODE COUNT"))?;
        let count: u64 = count.parse().map_err(|_| format!("{count:?} is no count"))?;
        if let Some(last) = self.last.filter(|last| count <= *last) {
            return Err(format!("{node} counts {count} after {last}"));
        }
        self.answered.insert(label(node).to_owned());
        self.first.get_or_insert(count);
        self.last = Some(count);
        self.answers += 1;
        Ok(())
    }

    /// Web nodes that have not answered yet.
    fn silent<'a>(&self, web: &'a [String]) -> Vec<&'a str> {
        web.iter().map(String::as_str).filter(|node| !self.answered.contains(*node)).collect()
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.first.unwrap_or_default(), self.last.unwrap_or_default());
        let nodes: Vec<&str> = self.answered.iter().map(String::as_str).collect();
        write!(
            f,
            "http://{}/ answered {} times, from each of {}; together they counted from {first} to {last}",
            self.address,
            self.answers,
            nodes.join(", ")
        )
    }
}

fn label(host: &str) -> &str {
    host.split('.').next().unwrap_or(host)
}

/// Asks until every web node has answered, at least twice as often as there are nodes.
pub(super) async fn prove(details: &Details) -> Result<Proof, Failure> {
    let with = |service: &'static str| {
        details.nodes.iter().filter(move |node| node.properties.services.contains(service))
    };
    let web: Vec<String> = with("nginx").map(Node::name).collect();
    let address = with("haproxy").find_map(Node::address).ok_or_else(|| {
        Failure::refused(
            "no node of the cluster is a load balancer with an address",
            "delete the cluster and try again",
        )
    })?;
    // Each request on a connection of its own: the load balancer is free to send it to any node.
    let builder = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).timeout(ANSWER_LIMIT);
    let http = without_tls(builder).build();
    let http = http.map_err(|fault| Failure::Server(format!("cannot ask over HTTP: {fault}")))?;
    let mut proof = Proof { address: address.to_owned(), ..Proof::default() };
    let url = format!("http://{address}/count");
    let deadline = Instant::now() + LIMIT;
    let mut fault = None;
    while !proof.silent(&web).is_empty() || proof.answers < 2 * web.len() as u64 {
        if Instant::now() > deadline {
            let silent = proof.silent(&web).join(", ");
            let why = fault.map(|fault| format!("; the last fault: {fault}")).unwrap_or_default();
            return Err(Failure::refused(
                format!("after {} answers from {url}, these were never heard: {silent}{why}", proof.answers),
                format!("ask yourself: curl {url}"),
            ));
        }
        match ask(&http, &url).await {
            Ok(answer) => proof.hear(&answer).map_err(|what| {
                Failure::refused(
                    format!("the counter does not count: {what}"),
                    format!("ask yourself: curl {url}"),
                )
            })?,
            Err(what) => {
                fault = Some(what);
                sleep(PAUSE).await;
            }
        }
    }
    Ok(proof)
}

async fn ask(http: &reqwest::Client, url: &str) -> Result<String, String> {
    let response = http.get(url).send().await.map_err(|fault| fault.to_string())?;
    let status = response.status();
    let text = response.text().await.map_err(|fault| fault.to_string())?;
    if status.is_success() { Ok(text) } else { Err(format!("{status}: {}", text.trim())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_must_be_heard_and_the_count_must_rise() {
        let web = ["demo1-1001".to_owned(), "demo1-1002".to_owned()];
        let mut proof = Proof { address: "10.0.0.2".to_owned(), ..Proof::default() };
        proof.hear("demo1-1001.local 7\n").unwrap();
        assert_eq!(proof.silent(&web), ["demo1-1002"]);
        proof.hear("demo1-1002.local 9").unwrap();
        assert!(proof.silent(&web).is_empty());
        assert!(proof.hear("demo1-1001.local 9").unwrap_err().contains("9 after 9"));
        for answer in ["<html>", "node many", ""] {
            assert!(proof.hear(answer).is_err(), "{answer}");
        }
        assert_eq!(
            proof.to_string(),
            "http://10.0.0.2/ answered 2 times, from each of demo1-1001, demo1-1002; together they counted from 7 to 9"
        );
    }
}
