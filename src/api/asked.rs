//! How a change to a cluster is asked for: on which state of it, and whether it is to be made or only shown.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpRequest, web};
use cooperage_actors::cluster::OperateError;
use cooperage_domain::cluster::Cluster;
use serde::Deserialize;

use super::edge::{IfMatch, expected_sequences};
use super::problem::Problem;

/// What is to become of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It is made.
    Make,
    /// It is shown, and nothing is done: `?dryRun=true`.
    Show,
    /// It is shown, and kept as it was shown, to be made later: `?dryRun=true&save=true`.
    Save,
    /// It is shown for a draft, which keeps what was asked for.
    Draft,
}

impl Purpose {
    /// Whether what was asked for is kept, so that it must hold no secrets.
    pub const fn keeps(self) -> bool {
        matches!(self, Self::Save | Self::Draft)
    }
}

/// How a change is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What must be there for it.
    pub on: IfMatch,
    /// What is to become of it.
    pub purpose: Purpose,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Query {
    dry_run: bool,
    save: bool,
}

impl FromRequest for Asked {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, actix_web::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let purpose = purpose(request.query_string());
        let on = IfMatch::from_request(request, payload).into_inner();
        ready(on.and_then(|on| Ok(Self { on, purpose: purpose? })))
    }
}

fn purpose(query: &str) -> Result<Purpose, Problem> {
    let Query { dry_run, save } = web::Query::<Query>::from_query(query)
        .map_err(|fault| {
            let detail = format!("the query cannot be read: {fault}");
            Problem::new(StatusCode::BAD_REQUEST, detail)
                .with_remedy("write dryRun=true and save=true, or leave them out")
        })?
        .into_inner();
    match (dry_run, save) {
        (false, false) => Ok(Purpose::Make),
        (true, false) => Ok(Purpose::Show),
        (true, true) => Ok(Purpose::Save),
        (false, true) => {
            Err(Problem::new(StatusCode::BAD_REQUEST, "save: a change that is made cannot be saved")
                .at("save", "true")
                .with_remedy("say dryRun=true as well to save it, or leave save out to make it"))
        }
    }
}

impl Asked {
    /// For a change that is made, or shown, in whatever state the cluster is.
    pub const fn anyhow(purpose: Purpose) -> Self {
        Self { on: IfMatch(cooperage_schema::Expected::Anything), purpose }
    }

    /// Numbers of the cluster's last event, one of which it must have; `None`: any.
    pub fn sequences(&self) -> Option<Vec<u64>> {
        expected_sequences(&self.on.0)
    }

    /// Refuses what is asked for on another state than the one that is there.
    pub fn check(&self, cluster: &Cluster) -> Result<(), Problem> {
        match self.sequences() {
            Some(sequences) if !sequences.contains(&cluster.sequence) => {
                Err(OperateError::Moved { now: cluster.sequence }.into())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_what_becomes_of_a_change() {
        assert_eq!(purpose("").unwrap(), Purpose::Make);
        assert_eq!(purpose("dryRun=false&x=1").unwrap(), Purpose::Make);
        assert_eq!(purpose("dryRun=true").unwrap(), Purpose::Show);
        assert_eq!(purpose("dryRun=true&save=true").unwrap(), Purpose::Save);
        assert_eq!(purpose("save=true").unwrap_err().field.as_deref(), Some("save"));
        // What cannot be read must not be taken for a change that is to be made.
        assert_eq!(purpose("dryRun=yes").unwrap_err().status, 400);
    }
}
