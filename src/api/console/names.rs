//! What people call the clusters and nodes that actors stand for: paths have ids, which say nothing to anybody.

use std::collections::HashMap;

use cooperage_domain::id::{ClusterId, NodeId};

use super::State;
use crate::api::problem::Problem;

/// Names by path. They never change, so that each is read once.
#[derive(Debug, Default)]
pub struct Names(HashMap<String, String>);

/// Whose name is wanted.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    Cluster(ClusterId),
    Node(NodeId),
}

/// Actors of other kinds are what their paths say.
fn named(path: &str) -> Option<Named> {
    let mut parts = path.strip_prefix("/clusters/")?.split('/');
    let cluster = parts.next()?;
    match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => cluster.parse().ok().map(Named::Cluster),
        (Some("nodes"), Some(node), None) => Some(Named::Node(NodeId(node.to_owned()))),
        _ => None,
    }
}

impl Names {
    /// Learns the names of what lives at these paths, where they are not known yet.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn learn(
        &mut self,
        state: &State,
        paths: impl IntoIterator<Item = &str>,
    ) -> Result<(), Problem> {
        let (mut clusters, mut nodes) = (Vec::new(), Vec::new());
        for path in paths.into_iter().filter(|path| !self.0.contains_key(*path)) {
            match named(path) {
                Some(Named::Cluster(id)) => clusters.push((path.to_owned(), id)),
                Some(Named::Node(id)) => nodes.push((path.to_owned(), id)),
                None => {}
            }
        }
        if clusters.is_empty() && nodes.is_empty() {
            return Ok(());
        }
        let found = state
            .blocking(move |state| {
                let ids: Vec<ClusterId> = clusters.iter().map(|(_, id)| *id).collect();
                let mut names = state.store.cluster_names(&ids)?;
                let ids: Vec<NodeId> = nodes.iter().map(|(_, id)| id.clone()).collect();
                let mut hosts = state.store.host_names(&ids)?;
                let clusters = clusters.into_iter().filter_map(|(path, id)| Some((path, names.remove(&id)?)));
                let nodes = nodes.into_iter().filter_map(|(path, id)| Some((path, hosts.remove(&id)?)));
                Ok(clusters.chain(nodes).collect::<Vec<_>>())
            })
            .await?;
        self.0.extend(found);
        Ok(())
    }

    /// What lives at a path is called so.
    pub fn of(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Names {
    fn from(known: [(&str, &str); N]) -> Self {
        Self(known.map(|(path, name)| (path.to_owned(), name.to_owned())).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_and_nodes_have_names() {
        assert_eq!(named("/clusters/00000007"), Some(Named::Cluster(ClusterId(7))));
        assert_eq!(named("/clusters/00000007/nodes/a"), Some(Named::Node(NodeId("a".to_owned()))));
        for path in [
            "/",
            "/registry",
            "/clusters",
            "/clusters/x",
            "/pools/t",
            "/clusters/7/nodes",
            "/clusters/7/nodes/a/b",
        ] {
            assert_eq!(named(path), None, "{path}");
        }
    }
}
