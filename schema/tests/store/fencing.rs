//! Ownership of clusters among servers: a zombie's writes are refused.

use cooperage_domain::id::ClusterId;
use cooperage_schema::{Append, AppendError, Owner, Projection};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row};

on_both_engines![
    an_append_with_an_old_epoch_is_refused,
    the_first_append_claims_the_cluster,
    only_one_server_takes_over,
    clusters_of_silent_servers_are_found,
];

fn an_append_with_an_old_epoch_is_refused(fresh: &Fresh) {
    let (zombie, successor) = (fresh.open_as("one"), fresh.open_as("two"));
    let id = ClusterId(1);
    let old = zombie.claim(id).unwrap();
    zombie.journal().append_blocking(Append { epoch: old, ..append(1, 0, &["a"]) }).unwrap();
    let new = successor.claim(id).unwrap();
    assert_eq!(new, old + 1);

    let refused = zombie.journal().append_blocking(Append { epoch: old, ..append(1, 1, &["zombie"]) });
    let fenced = |epoch| AppendError::Fenced { cluster: id, epoch, current: new, server: "two".to_owned() };
    assert_eq!(refused, Err(fenced(old)));
    assert!(!fenced(old).is_retryable());
    let never_given = Append { epoch: new + 1, ..append(1, 1, &["x"]) };
    assert_eq!(zombie.journal().append_blocking(never_given), Err(fenced(new + 1)));
    successor.journal().append_blocking(Append { epoch: new, ..append(1, 1, &["b"]) }).unwrap();
    assert_eq!(zombie.load(id).unwrap().sequence(), 2);
}

fn the_first_append_claims_the_cluster(fresh: &Fresh) {
    let store = fresh.open_as("one");
    store.journal().append_blocking(Append { epoch: 4, ..append(1, 0, &["a"]) }).unwrap();
    let owner = Owner { cluster: ClusterId(1), server: "one".to_owned(), epoch: 4 };
    assert_eq!(store.owner(ClusterId(1)), Ok(Some(owner)));
    assert_eq!(store.claim(ClusterId(1)), Ok(5));
}

fn only_one_server_takes_over(fresh: &Fresh) {
    let (one, two, three) = (fresh.open_as("one"), fresh.open_as("two"), fresh.open_as("three"));
    let seen = one.claim(ClusterId(1)).unwrap();
    assert_eq!(two.take_over(ClusterId(1), seen), Ok(Some(seen + 1)));
    assert_eq!(three.take_over(ClusterId(1), seen), Ok(None));
    assert_eq!(three.take_over(ClusterId(2), 1), Ok(None));
    assert_eq!(one.owner(ClusterId(1)).unwrap().unwrap().server, "two");
}

fn clusters_of_silent_servers_are_found(fresh: &Fresh) {
    let (one, two) = (fresh.open_as("one"), fresh.open_as("two"));
    for (cluster, status) in [(1, "active"), (2, "terminated")] {
        let row = cooperage_schema::ClusterRow { status: status.to_owned(), ..cluster_row(cluster) };
        let projection = Projection { cluster: Some(row), ..Projection::default() };
        one.journal().append_blocking(Append { projection, ..append(cluster, 0, &["a"]) }).unwrap();
    }
    let live = one.live_clusters().unwrap();
    assert_eq!(live, [Owner { cluster: ClusterId(1), server: "one".to_owned(), epoch: 1 }]);
    assert_eq!(two.abandoned_clusters(100).unwrap(), live, "a server that never said it lives");
    one.heartbeat(100).unwrap();
    assert_eq!(two.abandoned_clusters(100), Ok(vec![]));
    assert_eq!(two.abandoned_clusters(101).unwrap(), live);
    assert_eq!(one.abandoned_clusters(101), Ok(vec![]), "its own are not abandoned");
}
