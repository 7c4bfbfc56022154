//! Bodies: what clients send, with parts of it replaced.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::catalog::catalog;

/// What is sent to some route and means something there.
fn sound() -> Vec<Value> {
    let mut all: Vec<Value> = catalog().as_array().unwrap().clone();
    all.push(catalog());
    all.extend([
        json!({"name": "c", "clusterTemplate": "farm", "numMachines": 2, "config": {"a": "%host.service.web[0]%"},
            "services": ["web"], "provider": "sim", "hardwaretype": "small", "imagetype": "plain",
            "initialLeaseDuration": 5, "providerFields": {"key": "x"}, "dnsSuffix": "x.org", "description": "d"}),
        json!({"config": {"a": "%ip.access_v4.service.web,%", "b": ["%cluster.owner%", "%%"]}, "restart": "true"}),
        json!({"services": ["web"], "providerFields": {}}),
        json!({"expireTime": 1_800_000_000_000_i64}),
        json!({"tenant": {"name": "dept", "workers": 1, "maxClusters": 2, "maxNodes": 3}, "bootstrap": true}),
        json!({"clusterId": "00000001", "properties": ["hostname"], "services": ["web"]}),
        json!({"id": "n1", "services": []}),
        json!({"providers": [], "services": [{"name": "s"}], "clustertemplates": [{"name": "t",
            "extends": "t", "includes": ["t"], "defaults": {}, "constraints": {}}]}),
        json!({"id": "p1", "host": "127.0.0.1", "port": 1, "capacityTotal": 2, "usage": {"superadmin": 1}}),
        json!({"provisionerId": "p1", "workerId": "w1", "tenantId": "superadmin"}),
        json!({"provisionerId": "p1", "workerId": "w1", "tenantId": "superadmin", "taskId": "00000001-001-001",
            "status": 0, "result": {"ssh-auth": {"user": "root"}}, "stdout": "x", "stderr": "y",
            "ipaddresses": {"access_v4": "10.0.0.1"}, "hostname": "h"}),
        json!({"name": "shell", "parameters": {"admin": {"fields": {"a": {"type": "select", "options": ["x"]}},
            "required": [["a"]]}, "user": {}}, "resourceTypes": {"scripts": {"format": "file"}}}),
    ]);
    all
}

/// Any JSON, deep and wide, with what is hard to read among it.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(vec![0_i64, 1, -1, i64::MAX, i64::MIN, i64::from(u32::MAX), 10_000]).prop_map(Value::from),
        Just(Value::from(u64::MAX)),
        any::<String>().prop_map(Value::from),
        Just(Value::from("a\0b")),
        select(vec![
            "",
            "%",
            "%%",
            "%host.service.web[99999999999999999999]%",
            "%ip.x.service.%",
            "superadmin",
            "00000001",
            "../../etc/passwd",
            "-1",
            "1e400",
            "farm",
            "sim",
        ])
        .prop_map(Value::from),
        // Long enough to be noticed.
        (1_usize..20_000).prop_map(|n| Value::from("x".repeat(n))),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(
                prop_oneof![
                    any::<String>(),
                    select(vec!["name", "services", "type"]).prop_map(str::to_owned)
                ],
                inner,
                0..6
            )
            .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Sound bodies for a path, as far as there are some.
fn sound_for(path: &str) -> Vec<Value> {
    let has = |body: &Value| {
        let fields = |names: &[&str]| names.iter().all(|name| body.get(name).is_some());
        match path {
            "/v2/clusters" => fields(&["clusterTemplate"]),
            "/v2/apply" => body.is_array(),
            "/v2/tenants" | "/v2/tenants/{name}" => fields(&["tenant"]),
            "/v2/import" => fields(&["providers", "services"]),
            "/v2/nodes" | "/v2/nodes/{id}" => fields(&["id", "services"]),
            "/v2/getNodeProperties" => fields(&["clusterId"]),
            "/v2/tasks/take" => fields(&["workerId"]),
            "/v2/tasks/finish" => fields(&["taskId"]),
            "/v2/resolve" => body["kind"] == "clustertemplate",
            path if path.starts_with("/v2/{kind}") => fields(&["kind"]),
            path if path.starts_with("/v2/provisioners") => fields(&["capacityTotal"]),
            path if path.starts_with("/v2/plugins/") => fields(&["parameters"]),
            path if path.ends_with("/config") => fields(&["config", "restart"]),
            path if path.starts_with("/v2/clusters/{id}") => fields(&["services"]) || fields(&["expireTime"]),
            _ => true,
        }
    };
    let found: Vec<Value> = sound().into_iter().filter(has).collect();
    if found.is_empty() { sound() } else { found }
}

/// One of these bodies with up to three of its values replaced, or said in another way.
fn changed(sound: Vec<Value>) -> impl Strategy<Value = Value> {
    (select(sound), vec((any::<Index>(), any_json(), 0..4_u8), 0..4)).prop_map(|(mut body, changes)| {
        for (index, other, how) in changes {
            let count = count(&body);
            replace(&mut body, &mut index.index(count), &other, how);
        }
        body
    })
}

fn count(value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    };
    1 + inner
}

/// Changes the value at a place, counted from the outside in.
fn replace(value: &mut Value, place: &mut usize, other: &Value, how: u8) {
    if *place == 0 {
        *value = match how {
            0 => json!([value.clone()]),
            1 => json!(value.to_string()),
            _ => other.clone(),
        };
        *place = usize::MAX;
        return;
    }
    *place -= 1;
    match value {
        Value::Array(items) => {
            for item in items {
                if *place == usize::MAX {
                    return;
                }
                replace(item, place, other, how);
            }
        }
        Value::Object(map) => {
            for (_, item) in map.iter_mut() {
                if *place == usize::MAX {
                    return;
                }
                replace(item, place, other, how);
            }
        }
        _ => {}
    }
}

/// JSON as old clients write it, and as nobody should.
fn loose_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = select(vec![
        "{", "}", "[", "]", ":", ",", "'", "\"", "a", "name", "1", "-", ".5", "Infinity", "NaN", "0x1F",
        "//", "/*", "*/", "\\u0000", "\\", "\n", "null", "+1", "1e999", "\u{2028}",
    ]);
    prop_oneof![
        vec(piece, 0..60).prop_map(|pieces| pieces.concat().into_bytes()),
        // Deep.
        (1_usize..5_000, select(vec!["[", "{\"a\":", "{a:", "[{a:"]))
            .prop_map(|(n, open)| open.repeat(n).into_bytes()),
    ]
}

/// A body for a path.
pub fn body(path: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let changed = || changed(sound());
    let fitting = self::changed(sound_for(path));
    prop_oneof![
        1 => Just(Vec::new()),
        1 => vec(any::<u8>(), 0..300),
        2 => loose_text(),
        2 => any_json().prop_map(|json| json.to_string().into_bytes()),
        2 => changed().prop_map(|json| json.to_string().into_bytes()),
        10 => fitting.prop_map(|json| json.to_string().into_bytes()),
        // Cut off.
        1 => (changed(), any::<Index>()).prop_map(|(json, end)| {
            let mut text = json.to_string().into_bytes();
            text.truncate(end.index(text.len().max(1)));
            text
        }),
    ]
}
