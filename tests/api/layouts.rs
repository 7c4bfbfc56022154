//! Layouts to choose from, and why a cluster has the one it has.

use std::time::Duration;

use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Client, Server, apply};

const LIMIT: Duration = Duration::from_secs(60);

/// The farm on two hardware types with prices, of which the template's default is none.
fn priced() -> Value {
    let mut catalog = catalog();
    for entity in catalog.as_array_mut().unwrap() {
        match entity["kind"].as_str().unwrap() {
            "hardwaretype" => entity["providermap"]["sim"]["price"] = json!("2"),
            "clustertemplate" => {
                entity["defaults"].as_object_mut().unwrap().remove("hardwaretype");
                entity["compatibility"]["hardwaretypes"] = json!(["small", "big"]);
                entity["constraints"]["services"]["web"]["hardwaretypes"] = json!(["big"]);
            }
            _ => {}
        }
    }
    let big = json!({"kind": "hardwaretype", "name": "big",
        "providermap": {"sim": {"flavor": "huge", "price": "10"}}});
    catalog.as_array_mut().unwrap().push(big);
    catalog
}

/// What a cluster of four small machines and a big one costs, by today's prices.
fn costs(admin: &Client, id: &str) {
    let told = || {
        let listed = admin.get("/v2/clusters").ok()[0].clone();
        let alone = admin.get(&format!("/v2/clusters/{id}")).ok();
        assert_eq!(listed["machines"], json!({"small": 4, "big": 1}));
        [listed["pricePerHour"].clone(), alone["pricePerHour"].clone()]
    };
    assert_eq!(told(), [json!(18.0), json!(18.0)]);
    let mut big = admin.get("/v2/hardwaretypes/big").ok();
    big["providermap"]["sim"]["price"] = json!("4.5");
    admin.put("/v2/hardwaretypes/big", &big).ok();
    assert_eq!(told(), [json!(12.5), json!(12.5)]);
    big["providermap"]["sim"].as_object_mut().unwrap().remove("price");
    admin.put("/v2/hardwaretypes/big", &big).ok();
    assert_eq!(told(), [Value::Null, Value::Null], "the price of one is not known");
}

#[test]
fn a_cluster_is_laid_out_as_asked_and_says_why() {
    let world = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let admin = server.admin();
    apply(&admin, &priced());
    let farm = |machines: u32, more: Value| {
        let mut request = json!({"name": "farm", "clusterTemplate": "farm", "numMachines": machines});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    };
    let found = admin.post("/v2/layouts", &farm(5, json!({}))).ok();
    let told: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["objectives"].clone(), one["nodes"].clone(), one["pricePerHour"].clone()))
        .collect();
    let expected = [
        (json!(["services", "spread"]), json!(5), json!(50.0)),
        (json!(["cheapest"]), json!(5), json!(18.0)),
        (json!(["fewest-nodes"]), json!(2), json!(20.0)),
    ];
    assert_eq!(told, expected, "{found}");

    let id = admin.create(&farm(5, json!({"objective": "cheapest"})));
    let nodes = admin.active(&id, LIMIT)["nodes"].clone();
    let hardware: Vec<&str> = nodes
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["properties"]["hardwaretype"].as_str().unwrap())
        .collect();
    assert_eq!(hardware.iter().filter(|name| **name == "small").count(), 4, "{hardware:?}");
    costs(&admin, &id);

    let placed = admin.get(&format!("/v2/clusters/{id}/placement?service=web")).ok();
    let here = placed.as_array().unwrap().iter().find(|one| one["isHere"] == true).unwrap();
    assert_eq!(here["nodes"].as_array().unwrap().len(), 1);
    assert!(here["why"].to_string().contains("hardware type big is one of those web accepts"), "{here}");
    let elsewhere = placed.as_array().unwrap().iter().find(|one| one["isHere"] == false).unwrap();
    assert!(elsewhere["why"].to_string().contains("its maximum is 1"), "{elsewhere}");
    let unknown = admin.get(&format!("/v2/clusters/{id}/placement?service=nothing"));
    assert_eq!((unknown.status, &unknown.body["field"]), (404, &json!("service")));

    let wrong = admin.post("/v2/clusters", &farm(5, json!({"objective": "prettiest"})));
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.to_string().contains("fewest-nodes"), "{}", wrong.body);
    assert_eq!(admin.post("/v2/layouts", &farm(1, json!({}))).status, 400);
}
