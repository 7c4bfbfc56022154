//! Runs the case files in `cases/`, and those in the directory named by `COOPERAGE_CASES`, if it is set.
//!
//! A case says what is `given` (entities and, for running clusters, a cluster), `when` what is asked (`op`), and what to
//! `expect`. Layouts are compared as multisets, and only the keys a case shows. Cases of other areas are passed over.

use std::collections::BTreeSet;
use std::path::Path;

use cooperage_domain::entity::{ClusterTemplate, HardwareType, ImageType, Service};
use cooperage_domain::layout::explain::{
    Combinations, add_service_candidates, check_counts, check_node_layout, check_service_set, find_counts,
};
use cooperage_domain::layout::{
    Catalog, Change, LayoutRequest, NoLayout, NodeGroup, NodeLayout, Preference, ReasonKind, add_services,
    apply_change, check_layout, check_sync, rank, solve, validate_add_services,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[test]
fn own_cases() {
    let run = run_directory(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layout/cases"));
    assert_eq!(run, 51, "number of cases run");
}

#[test]
fn cases_from_outside() {
    if let Some(directory) = std::env::var_os("COOPERAGE_CASES") {
        let run = run_directory(Path::new(&directory));
        assert!(run > 0, "{} holds no case for the layout solver", Path::new(&directory).display());
    }
}

/// Runs all cases of all files and reports all that do not hold; returns how many were run.
fn run_directory(directory: &Path) -> usize {
    let mut failures = Vec::new();
    let mut run = 0;
    for entry in directory.read_dir().expect("a directory of cases") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let cases: Vec<Value> = serde_json::from_str(&text).expect("a list of cases");
        for case in cases.iter().filter(|case| case["quirk"] != json!(true)) {
            let Some(outcome) = run_case(case) else { continue };
            run += 1;
            if let Err(difference) = outcome {
                failures.push(format!("{}: {}: {difference}", path.display(), case["name"]));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    run
}

/// The outcome of a case, or `None` if it is not about layouts.
fn run_case(case: &Value) -> Option<Result<(), String>> {
    let (when, expect) = (&case["when"], &case["expect"]);
    let outcome = match when["op"].as_str()? {
        "create_cluster" => {
            expect.get("result")?;
            create(case)
        }
        "add_services" => {
            expect.get("result")?;
            add(case)
        }
        "validate_add_services" => validate_add(case),
        "add_service_candidates" => {
            let groups: Vec<NodeGroup> = read(&case["given"]["cluster"]["layout"]);
            let service = when["service"].as_str().expect("a service");
            same(&expect["candidates"], &json!(add_service_candidates(&template(case), &groups, service)))
        }
        "apply_changes" => apply_changes(case),
        "check_layout" => layout_check(case),
        "check_service_sets" => {
            let (template, services) = (template(case), read(&when["services"]));
            let sets: Vec<BTreeSet<String>> = read(&when["sets"]);
            validity(expect, sets.iter().map(|set| check_service_set(&template, &services, set).is_empty()))
        }
        "check_node_layouts" => {
            let template = template(case);
            validity(expect, nodes(when).iter().map(|node| check_node_layout(&template, node).is_empty()))
        }
        "rank_node_layouts" => {
            let preference = Preference {
                hardwaretypes: read_or_empty(&when["hardware_preference"]),
                imagetypes: read_or_empty(&when["image_preference"]),
            };
            same(&expect["ranked"], &json!(rank(nodes(when), &preference)))
        }
        "check_counts" => {
            let (template, nodes) = (template(case), nodes(when));
            let counts: Vec<Vec<u32>> = read(&when["counts"]);
            validity(expect, counts.iter().map(|counts| check_counts(&template, &nodes, counts).is_empty()))
        }
        "find_counts" => {
            let found = find_counts(&template(case), &nodes(when), read(&when["numMachines"]));
            found
                .map_err(|refusal| refusal.to_string())
                .and_then(|counts| same(&expect["counts"], &json!(counts)))
        }
        "combinations" => same(&expect["combinations"], &json!(combinations(when))),
        _ => return None,
    };
    Some(outcome)
}

fn create(case: &Value) -> Result<(), String> {
    let request = &case["when"]["request"];
    let text = |key: &str| request[key].as_str().map(str::to_owned);
    let template = template(case);
    let provider = text("provider").filter(|name| !name.is_empty()).or(template.defaults.provider.clone());
    let given = &case["given"];
    let (hardware, images): (Vec<HardwareType>, Vec<ImageType>) =
        (read_or_empty(&given["hardwaretypes"]), read_or_empty(&given["imagetypes"]));
    let services: Vec<Service> = read_or_empty(&given["services"]);
    let catalog = Catalog {
        template: &template,
        provider: provider.as_deref().unwrap_or_default(),
        hardware: &hardware,
        images: &images,
        services: &services,
    };
    let request = LayoutRequest {
        ancestors: BTreeSet::new(),
        machines: read(&request["numMachines"]),
        services: request.get("services").map(read),
        hardwaretype: text("hardwaretype"),
        imagetype: text("imagetype"),
        ..LayoutRequest::default()
    };
    let expect = &case["expect"];
    match (expect["result"].as_str(), solve(&catalog, &request)) {
        (Some("solved"), Ok(layout)) => {
            if expect["nodes"].as_u64().is_some_and(|nodes| nodes != u64::from(layout.machines())) {
                return Err(format!("{} nodes instead of {}", layout.machines(), expect["nodes"]));
            }
            same_layout(expect.get("layout"), &layout.groups)?;
            every_node(&expect["every_node"], &catalog, &layout.groups)
        }
        (Some("solved"), Err(refusal)) => Err(format!("refused: {refusal}")),
        (_, Ok(layout)) => Err(format!("solved: {}", json!(layout))),
        (_, Err(refusal)) => refused(expect, &refusal),
    }
}

fn every_node(expect: &Value, catalog: &Catalog<'_>, groups: &[NodeGroup]) -> Result<(), String> {
    for node in groups.iter().map(|group| &group.node) {
        let hardware = catalog.hardware.iter().find(|hardware| hardware.base.name == node.hardwaretype);
        let image = catalog.images.iter().find(|image| image.base.name == node.imagetype);
        let all = json!({
            "hardwaretype": node.hardwaretype,
            "imagetype": node.imagetype,
            "flavor": hardware.and_then(|hardware| hardware.flavor(catalog.provider)),
            "image": image.and_then(|image| image.image(catalog.provider)),
        });
        for (key, value) in expect.as_object().into_iter().flatten() {
            same(value, &all[key])?;
        }
    }
    Ok(())
}

fn add(case: &Value) -> Result<(), String> {
    let groups: Vec<NodeGroup> = read(&case["given"]["cluster"]["layout"]);
    let expect = &case["expect"];
    match (
        expect["result"].as_str(),
        add_services(&template(case), &[], &groups, &read(&case["when"]["services"])),
    ) {
        (Some("ok"), Ok(addition)) => {
            same_layout(expect.get("layout"), &addition.layout)?;
            same(&expect["changed_nodes"], &json!(addition.changed_nodes()))
        }
        (Some("ok"), Err(refusal)) => Err(format!("refused: {refusal}")),
        (_, Ok(addition)) => Err(format!("placed: {}", json!(addition))),
        (_, Err(refusal)) => refused(expect, &refusal),
    }
}

fn validate_add(case: &Value) -> Result<(), String> {
    let known: Vec<Service> = read(&case["given"]["services"]);
    let present = read(&case["given"]["cluster"]["services"]);
    let added = read(&case["when"]["services"]);
    let expect = &case["expect"];
    match (
        expect["result"].as_str(),
        validate_add_services(&template(case), &known, &present, &added, &BTreeSet::new()),
    ) {
        (Some("ok"), outcome) => outcome.map_err(|refusal| format!("refused: {refusal}")),
        (_, Ok(())) => Err("accepted".to_owned()),
        (_, Err(refusal)) => refused(expect, &refusal),
    }
}

fn apply_changes(case: &Value) -> Result<(), String> {
    let mut groups: Vec<NodeGroup> = read(&case["given"]["cluster"]["layout"]);
    let changes: Vec<Change> = read(&case["when"]["changes"]);
    for (change, expect) in changes.iter().zip(case["expect"]["steps"].as_array().expect("steps")) {
        let after = apply_change(&groups, change);
        same(&expect["applicable"], &json!(after.is_ok()))?;
        if let Ok(after) = after {
            same_layout(expect.get("layout"), &after)?;
            groups = after;
        }
    }
    Ok(())
}

fn layout_check(case: &Value) -> Result<(), String> {
    let groups: Vec<NodeGroup> = read(&case["when"]["layout"]);
    let (template, expect) = (template(case), &case["expect"]);
    match expect.get("compatible_with_template") {
        Some(compatible) => same(compatible, &json!(check_sync(&template, &groups).is_ok())),
        None => same(&expect["valid"], &json!(check_layout(&template, &groups).is_empty())),
    }
}

fn combinations(when: &Value) -> Vec<Vec<u32>> {
    if let Some(start) = when.get("start") {
        let max: Vec<u32> = read(&when["max"]);
        return Combinations::starting_at(&read::<Vec<u32>>(start), &max).collect();
    }
    let items: u32 = read(&when["items"]);
    let slots: usize = read(&when["slots"]);
    let max = when.get("max").map_or(vec![items; slots], read);
    Combinations::new(items, &max).collect()
}

/// The refusal mentions what it should and is of the sort named by the case's label, where there is one.
fn refused(expect: &Value, refusal: &NoLayout) -> Result<(), String> {
    let text = refusal.to_string();
    for mention in expect["mentions"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !text.contains(mention) {
            return Err(format!("{text:?} does not mention {mention}"));
        }
    }
    let kind = match expect["reason"].as_str() {
        Some("size") => ReasonKind::Size,
        Some("no_hardware_type") => ReasonKind::HardwareType,
        Some("no_image_type") => ReasonKind::ImageType,
        Some("incompatible_service") => ReasonKind::IncompatibleService,
        Some("conflict") => ReasonKind::Conflict,
        _ => return Ok(()),
    };
    if refusal.has(kind) { Ok(()) } else { Err(format!("{text:?} is not of kind {kind:?}")) }
}

/// The first template the case asks for by name, or its only one.
fn template(case: &Value) -> ClusterTemplate {
    let (when, given) = (&case["when"], &case["given"]);
    let named =
        [&when["clusterTemplate"], &when["request"]["clusterTemplate"], &given["cluster"]["clusterTemplate"]];
    let name = named.into_iter().find_map(Value::as_str).expect("a template's name");
    let templates = given["clustertemplates"].as_array().expect("templates");
    read(templates.iter().find(|template| template["name"] == name).expect("the named template"))
}

fn nodes(when: &Value) -> Vec<NodeLayout> {
    read(&when["node_layouts"])
}

fn validity(expect: &Value, valid: impl Iterator<Item = bool>) -> Result<(), String> {
    same(&expect["valid"], &json!(valid.collect::<Vec<_>>()))
}

fn same(expected: &Value, found: &Value) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("expected {expected}, found {found}")) }
}

/// Compares as multisets, and only the keys that are expected.
fn same_layout(expected: Option<&Value>, found: &[NodeGroup]) -> Result<(), String> {
    let Some(expected) = expected else { return Ok(()) };
    let entries = expected.as_array().expect("a layout");
    let keys: BTreeSet<&String> =
        entries.iter().flat_map(|entry| entry.as_object().expect("an entry").keys()).collect();
    let mut wanted: Vec<String> = entries.iter().map(|entry| entry_text(entry, &keys)).collect();
    let mut there: Vec<String> = found.iter().map(|group| entry_text(&json!(group), &keys)).collect();
    wanted.sort_unstable();
    there.sort_unstable();
    if wanted == there { Ok(()) } else { Err(format!("expected {wanted:?}, found {there:?}")) }
}

fn entry_text(entry: &Value, keys: &BTreeSet<&String>) -> String {
    let services: BTreeSet<String> = read(&entry["services"]);
    let rest =
        keys.iter().filter(|key| **key != "services").map(|key| format!("{key}={}", entry[key.as_str()]));
    format!("{services:?} {}", rest.collect::<Vec<_>>().join(" "))
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_else(|fault| panic!("{value}: {fault}"))
}

fn read_or_empty<T: DeserializeOwned + Default>(value: &Value) -> T {
    if value.is_null() { T::default() } else { read(value) }
}
