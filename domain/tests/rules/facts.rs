//! Runs the case files about templates, leases, fields, quotas and nodes.

use std::collections::BTreeSet;

use cooperage_domain::entity::{ClusterTemplate, Entity, Parameters, PartialTemplate, ProviderType};
use cooperage_domain::hostname::host_name;
use cooperage_domain::lease::LeaseDuration;
use cooperage_domain::node_action::{NodeAction, cut_log, remember};
use cooperage_domain::provider_fields::{group_fields, missing_fields};
use cooperage_domain::quota::{Quota, Usage};
use cooperage_domain::resolve::{Catalog, ResolveError, resolve};
use cooperage_domain::task::TaskName;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cases::{Case, Verdict, equal, run_all};
use crate::shown::difference;

#[test]
fn rules_hold_as_the_case_files_say() {
    run_all("rules/cases", |case| {
        let verdict = match case.op() {
            "resolve_template" => resolve_template(case),
            "parse_lease" => parse_lease(case),
            "initial_lease" => initial_lease(case),
            "change_expire_time" => return change_expire_time(case),
            "put_template" => put_template(case),
            "hostname" => hostname(case),
            "truncate" => truncate(case),
            "run_actions" => run_actions(case),
            "group_fields" => group(case),
            "missing_fields" => missing(case),
            "check_quota" => check_quota(case),
            _ => return None,
        };
        Some(verdict)
    });
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{value}: {e}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// The documents of a kind that the case gives.
fn given<T: DeserializeOwned>(case: &Case, kind: &str) -> Vec<T> {
    case.given[kind].as_array().into_iter().flatten().map(read).collect()
}

fn resolve_template(case: &Case) -> Verdict {
    let named = |it: ClusterTemplate| (it.base.name.clone(), it);
    let catalog = Catalog {
        templates: given(case, "clustertemplates").into_iter().map(named).collect(),
        partials: given::<PartialTemplate>(case, "partialtemplates")
            .into_iter()
            .map(|it| (it.base.name.clone(), it))
            .collect(),
    };
    let wanted = match &case.when {
        when if when["name"].is_string() => Ok(catalog.templates[text(&when["name"])].clone()),
        when if when["raw"].is_string() => serde_json::from_str(text(&when["raw"])),
        when => serde_json::from_value(when.get("raw").unwrap_or(&when["template"]).clone()),
    };
    let outcome = match &wanted {
        Err(fault) => Err(("validation", fault.to_string())),
        Ok(template) => resolve(template, &catalog).map_err(|fault| {
            let label = match fault {
                ResolveError::NotFound { .. } => "not_found",
                ResolveError::Loop { .. } => "loop",
                ResolveError::Immutable { .. } => "immutable",
                ResolveError::Invalid(_) => "validation",
            };
            (label, fault.to_string())
        }),
    };
    case.judge(outcome, |resolved| {
        let found = serde_json::to_value(&resolved.template).unwrap();
        let parts = [&case.expect["resolved"], &case.expect["kept"]];
        let fault = parts.into_iter().filter(|part| part.is_object()).find_map(|it| difference(&found, it));
        fault.map_or(Ok(()), Err)
    })
}

fn parse_lease(case: &Case) -> Verdict {
    let lease = serde_json::from_value::<LeaseDuration>(case.when["leaseduration"].clone());
    case.judge(lease.map_err(|fault| ("invalid", fault.to_string())), |lease| {
        equal(&serde_json::to_value(lease).unwrap(), &case.expect)
    })
}

fn initial_lease(case: &Case) -> Verdict {
    let lease: LeaseDuration = read(&case.given["leaseduration"]);
    let outcome = lease.initial_lease(case.when["requested"].as_i64());
    case.judge(outcome.map_err(|fault| ("lease", fault.to_string())), |ms| {
        equal(&json!(ms), &case.expect["lease_ms"])
    })
}

/// `None` where the outcome is decided by the status of the cluster, which leases know nothing of.
fn change_expire_time(case: &Case) -> Option<Verdict> {
    if matches!(case.given["cluster"]["status"].as_str(), Some("terminated" | "pending")) {
        return None;
    }
    const CREATED: i64 = 1_000_000;
    let lease: LeaseDuration = read(&case.given["leaseduration"]);
    let mut current = CREATED + case.given["cluster"]["expire_offset_ms"].as_i64()?;
    let steps = case.when["steps"].as_array()?.iter().map(|step| {
        let wanted = CREATED + step["expire_offset_ms"].as_i64().unwrap();
        let accepted = lease.check_expiry(CREATED, current, wanted).is_ok();
        if accepted {
            current = wanted;
        }
        json!({"http_status": if accepted { 200 } else { 400 }, "expire_offset_ms": current - CREATED})
    });
    Some(equal(&steps.collect(), &case.expect["steps"]))
}

fn put_template(case: &Case) -> Verdict {
    let outcome = read::<ClusterTemplate>(&case.when["template"]).check();
    case.judge(outcome.map_err(|fault| ("lease", fault.to_string())), |()| Ok(()))
}

fn hostname(case: &Case) -> Verdict {
    let when = &case.when;
    let number = when["nodenum"].as_u64().and_then(|number| number.try_into().ok()).unwrap();
    let cluster = text(&when["cluster_id"]).parse().unwrap();
    let found = host_name(text(&when["cluster_name"]), cluster, number, when["dnsSuffix"].as_str());
    equal(&found.as_str(), &text(&case.expect["hostname"]))
}

fn truncate(case: &Case) -> Verdict {
    let length = case.when["max"].as_u64().unwrap().try_into().unwrap();
    equal(&cut_log(text(&case.when["log"]), length).as_str(), &text(&case.expect["value"]))
}

fn run_actions(case: &Case) -> Verdict {
    let limit = case.given["settings"]["server.node.max.num.actions"].as_u64().unwrap().try_into().unwrap();
    let mut history = Vec::new();
    for (number, service) in (1..).zip(case.when["services"].as_array().unwrap()) {
        let task = format!("00000001-001-{number:03}").parse().unwrap();
        remember(&mut history, NodeAction::start(task, text(service), TaskName::Start, number), limit);
    }
    let services: Value = history.into_iter().map(|action| action.service).collect();
    equal(&services, &case.expect["history_services"])
}

/// The fields of the provider type that the case names.
fn parameters(case: &Case) -> Parameters {
    let types: Vec<ProviderType> = given(case, "providertypes");
    let named = types.into_iter().find(|it| it.0.base.name == text(&case.when["providertype"]));
    named.unwrap().0.parameters
}

fn group(case: &Case) -> Verdict {
    let grouped = group_fields(&parameters(case), case.when["fields"].as_object().unwrap());
    let ignored: BTreeSet<String> = grouped.ignored.into_iter().collect();
    equal(&Value::from(grouped.sensitive), &case.expect["sensitive"])?;
    equal(&Value::from(grouped.plain), &case.expect["nonsensitive"])?;
    equal(&ignored, &read(&case.expect["ignored"]))
}

fn missing(case: &Case) -> Verdict {
    let parameters = parameters(case);
    let set = if case.when["kind"] == "admin" { &parameters.admin } else { &parameters.user };
    let given: BTreeSet<String> = read(&case.when["given"]);
    let missing = missing_fields(set, |name| given.contains(name));
    let names: Value = missing.iter().map(|fields| fields.keys().cloned().collect::<Value>()).collect();
    equal(&names, &case.expect["missing_alternatives"])
}

fn check_quota(case: &Case) -> Verdict {
    let tenant = &case.given["tenants"][0];
    let number = |value: &Value| value.as_u64().unwrap();
    let quota =
        Quota { max_clusters: number(&tenant["maxClusters"]), max_nodes: number(&tenant["maxNodes"]) };
    let live = case.given["clusters"].as_array().into_iter().flatten();
    let live = live.filter(|cluster| cluster["status"] != "terminated");
    let used = live.fold(Usage::default(), |used, cluster| Usage {
        clusters: used.clusters + 1,
        nodes: used.nodes + number(&cluster["nodes"]),
    });
    let more = Usage { clusters: number(&case.when["clusters"]), nodes: number(&case.when["nodes"]) };
    equal(&json!(quota.check(used, more).is_ok()), &case.expect["within_quota"])
}
