//! What there is to make clusters from in these tests.

use serde_json::{Value, json};

/// Entities for clusters of simulated machines: one web server before any number of workers, at most one of them on a node.
pub fn catalog() -> Value {
    let action = json!({"type": "simulated", "fields": {}});
    json!([
        {"kind": "provider", "name": "sim", "description": "Simulated", "providertype": "simulated",
         "provisioner": {"account": "lab"}},
        {"kind": "hardwaretype", "name": "small", "providermap": {"sim": {"flavor": "tiny"}}},
        {"kind": "imagetype", "name": "plain", "providermap": {"sim": {"image": "img-1", "sshuser": "root"}}},
        {"kind": "service", "name": "web", "dependencies": {"provides": [], "conflicts": [], "runtime": {"requires": ["worker"]}},
         "provisioner": {"actions": {"install": action, "start": action}},
         "links": [{"label": "console", "url": "http://%ip.access_v4.self%:8001"}]},
        {"kind": "service", "name": "worker", "dependencies": {"provides": [], "conflicts": []},
         "provisioner": {"actions": {"install": action}}},
        {"kind": "clustertemplate", "name": "farm", "description": "Web tier",
         "defaults": {"services": ["web", "worker"], "provider": "sim", "hardwaretype": "small",
            "imagetype": "plain", "dnsSuffix": "lab.example.com", "config": {"web": {"port": 80}}},
         "compatibility": {"hardwaretypes": ["small"], "imagetypes": ["plain"], "services": ["web", "worker"]},
         "constraints": {"layout": {"cantcoexist": [["web", "worker"]]},
            "services": {"web": {"quantities": {"min": 1, "max": 1}}}, "size": {"min": 2, "max": 9}},
         "administration": {"leaseduration": {"initial": 3_600_000, "max": 7_200_000, "step": 60_000}},
         "links": [{"label": "site", "url": "http://%host.service.web%/"}]},
    ])
}
