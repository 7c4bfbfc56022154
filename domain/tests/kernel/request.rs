//! Rules of asking for a cluster: what is refused at once, in which order, and where the rest comes from.

use cooperage_domain::cluster::{
    Accepted, Account, Asking, Catalog, ClusterRequest, Limits, Origins, RequestFault,
};
use cooperage_domain::id::ClusterId;
use cooperage_domain::layout::RemedyStep;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::MORNING;

fn from<T: DeserializeOwned>(document: Value) -> T {
    serde_json::from_value(document).unwrap()
}

fn catalog() -> Catalog {
    let fields = json!({"fields": {"key": {"label": "Key", "type": "text", "sensitive": true}, "region": {"label": "Region", "type": "text"}}, "required": [["key"]]});
    Catalog {
        provider_types: from(json!([{"name": "cloud", "parameters": {"user": fields}}])),
        providers: from(json!([
            {"name": "east", "providertype": "cloud", "provisioner": {}},
            {"name": "lost", "providertype": "gone", "provisioner": {}}
        ])),
        hardware: from(json!([{"name": "small", "providermap": {"east": {"flavor": "s1"}}}])),
        images: from(
            json!([{"name": "debian", "providermap": {"east": {"image": "img-7", "sshuser": "admin"}}}]),
        ),
        services: from(json!([
            {"name": "web", "provisioner": {"actions": {"start": {"type": "shell", "fields": {}}}}},
            {"name": "idle"}
        ])),
        templates: from(json!([{
            "name": "shop",
            "defaults": {
                "provider": "east", "services": ["web"], "config": {"port": 80}, "dnsSuffix": "example.com"
            },
            "compatibility": {"services": ["web", "idle"]},
            "constraints": {"size": {"min": 2, "max": 3}},
            "administration": {"leaseduration": {"initial": "1h", "max": "2h", "step": "1h"}}
        }])),
        partials: Vec::new(),
    }
}

/// A request that holds, with some of its fields replaced.
fn ask(changes: &Value) -> Result<Accepted, RequestFault> {
    let mut request = json!({
        "name": "mine", "clusterTemplate": "shop", "numMachines": "2", "provider": null, "services": null,
        "providerFields": {"key": "secret", "region": "r1"}
    });
    request.as_object_mut().unwrap().extend(changes.as_object().cloned().unwrap());
    let request: ClusterRequest = from(request);
    request.check(100)?;
    let asking = Asking {
        account: Account { user_id: "ann".into(), tenant_id: "t1".into() },
        id: ClusterId(7),
        seed: Uuid::nil(),
        now: MORNING,
        limits: Limits::default(),
        origins: Origins::default(),
    };
    request.accept(&catalog(), asking)
}

#[test]
fn what_is_left_open_comes_from_the_template() {
    let accepted = ask(&json!({})).unwrap();
    let order = &accepted.order;
    assert_eq!(order.provider.base.name, "east");
    assert_eq!(Value::from(order.config.clone()), json!({"port": 80}));
    assert_eq!(order.expires, MORNING + 3_600_000);
    let nodes = accepted.lay_out(&catalog()).unwrap();
    let mut nodes: Vec<_> = nodes.into_values().collect();
    nodes.sort_by_key(|node| node.nodenum);
    assert_eq!(nodes.iter().map(|node| node.nodenum).collect::<Vec<_>>(), [1000, 1001]);
    assert_eq!(nodes[0].hostname.as_deref(), Some("mine7-1000.example.com"));
    assert_eq!((nodes[0].flavor.as_str(), nodes[0].image.as_str()), ("s1", "img-7"));
    assert_eq!((nodes[0].sshuser.as_str(), nodes[0].automators.len()), ("admin", 1));
}

#[test]
fn what_is_given_replaces_it_as_a_whole() {
    let changes =
        json!({"services": ["idle"], "config": {"host": "%host.self%"}, "initialLeaseDuration": 1000});
    let order = ask(&changes).unwrap().order;
    assert_eq!(Value::from(order.config), json!({"host": "%host.self%"}));
    assert!(order.services.iter().eq(["idle"]) && order.definitions.keys().eq(["idle"]));
    assert_eq!(order.expires, MORNING + 1000);
}

#[test]
fn secrets_are_kept_apart() {
    let accepted = ask(&json!({})).unwrap();
    assert_eq!(serde_json::to_value(&accepted.secrets).unwrap()["given"], json!({"key": "secret"}));
    let kept = serde_json::to_string(&accepted.order).unwrap();
    assert!(kept.contains(r#""region":"r1""#) && !kept.contains("secret"), "{kept}");
}

#[test]
fn faults_name_the_field_and_what_to_do() {
    for (changes, texts) in [
        (json!({"name": ""}), ["name", "give it one"]),
        (json!({"name": "my shop"}), ["my shop", "use 1 to 255"]),
        (json!({"clusterTemplate": ""}), ["clusterTemplate", "name the cluster template"]),
        (json!({"clusterTemplate": "shops"}), ["\"shops\"", "use one of: shop"]),
        (json!({"numMachines": null}), ["numMachines", "ask for 1 or more"]),
        (json!({"numMachines": 0}), ["numMachines", "ask for 1 or more"]),
        (json!({"numMachines": 101}), ["max cluster size of 100", "ask for fewer"]),
        (json!({"numMachines": 4}), ["numMachines", "4"]),
        (json!({"initialLeaseDuration": 0}), ["initialLeaseDuration", "0"]),
        (json!({"provider": "west"}), ["\"west\"", "use one of: east, lost"]),
        (json!({"provider": "lost"}), ["\"gone\"", "use one of: cloud"]),
        (json!({"providerFields": {}}), ["key", ""]),
        (json!({"dnsSuffix": "-x"}), ["dnsSuffix", "-x"]),
        (json!({"config": {"a": "%no.such%"}}), ["config", "no.such"]),
    ] {
        let fault = ask(&changes).unwrap_err().to_string();
        assert!(texts.iter().all(|text| fault.contains(text)), "{changes}: {fault}");
    }
}

#[test]
fn of_several_faults_the_first_is_told() {
    let order = [
        json!({"dnsSuffix": "-x"}),
        json!({"clusterTemplate": "none"}),
        json!({"numMachines": 4}),
        json!({"initialLeaseDuration": 0}),
        json!({"provider": "west"}),
        json!({"name": "my shop"}),
        json!({"providerFields": {}}),
    ];
    for (place, first) in order.iter().enumerate() {
        let mut all = json!({});
        for later in &order[place..] {
            all.as_object_mut().unwrap().extend(later.as_object().cloned().unwrap());
        }
        let (found, alone) = (ask(&all).unwrap_err(), ask(first).unwrap_err());
        assert_eq!(found.to_string(), alone.to_string());
    }
}

#[test]
fn nodes_get_the_same_ids_for_the_same_seed() {
    let nodes = || ask(&json!({})).unwrap().lay_out(&catalog()).unwrap().into_keys().collect::<Vec<_>>();
    assert_eq!(nodes(), nodes());
}

#[test]
fn a_size_that_is_not_allowed_comes_with_the_nearest_that_is() {
    let refused = ask(&json!({"numMachines": 4})).unwrap_err();
    let RequestFault::Size { steps, .. } = refused else { panic!("{refused}") };
    assert_eq!(steps, [RemedyStep::Machines { count: 3 }]);
}
