//! One test for each rule of merging.

use serde_json::{Value, json};

use super::*;

fn template(document: Value) -> ClusterTemplate {
    serde_json::from_value(document).unwrap()
}

/// A catalog of templates and partials, given as lists of documents.
fn catalog(templates: Value, partials: Value) -> Catalog {
    let templates: Vec<ClusterTemplate> = serde_json::from_value(templates).unwrap();
    let partials: Vec<PartialTemplate> = serde_json::from_value(partials).unwrap();
    Catalog {
        templates: templates.into_iter().map(|it| (it.base.name.clone(), it)).collect(),
        partials: partials.into_iter().map(|it| (it.base.name.clone(), it)).collect(),
    }
}

fn child(more: &Value) -> ClusterTemplate {
    let mut document = json!({"name": "child", "extends": {"name": "parent"}});
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    template(document)
}

#[test]
fn partials_come_before_their_template_and_once_only() {
    let catalog = catalog(
        json!([{"name": "parent", "version": 3, "includes": [{"name": "a"}],
                "defaults": {"services": ["s"], "provider": "p", "config": {"k": "parent"}}}]),
        json!([{"name": "a", "immutable": false, "defaults": {"config": {"k": "a", "l": "a"}}},
               {"name": "b", "immutable": false, "defaults": {"config": {"l": "b"}}}]),
    );
    let resolved = resolve(&child(&json!({"includes": [{"name": "b"}, {"name": "a"}]})), &catalog).unwrap();
    assert_eq!(Value::from(resolved.template.defaults.config), json!({"k": "parent", "l": "b"}));
    let order: Vec<_> = resolved.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(order, ["a", "parent", "b", "child"]);
    assert_eq!(resolved.sources[1].version, Some(3));
}

#[test]
fn circles_are_named() {
    let catalog = catalog(
        json!([{"name": "parent", "extends": {"name": "a"}}, {"name": "a", "extends": {"name": "b"}},
               {"name": "b", "extends": {"name": "a"}}]),
        json!([]),
    );
    let fault = resolve(&child(&json!({})), &catalog).unwrap_err();
    assert_eq!(fault, ResolveError::Loop { chain: vec!["a".into(), "b".into(), "a".into()] });
    assert!(fault.to_string().contains("a extends b extends a"), "{fault}");
    assert!(matches!(
        resolve(&template(json!({"name": "x", "extends": {"name": "x"}})), &Catalog::default()),
        Err(ResolveError::Loop { .. })
    ));
}

#[test]
fn what_is_referred_to_must_exist() {
    let fault = resolve(&child(&json!({})), &Catalog::default()).unwrap_err().to_string();
    assert!(fault.contains("cluster template parent not found: child refers to it"), "{fault}");
    let parent = catalog(json!([{"name": "parent", "includes": [{"name": "part"}]}]), json!([]));
    let fault = resolve(&child(&json!({})), &parent).unwrap_err().to_string();
    assert!(fault.contains("partial template part not found: parent refers to it"), "{fault}");
}

#[test]
fn immutable_keys_may_be_taken_over_but_not_set_again() {
    let catalog = catalog(
        json!([{"name": "parent", "defaults": {"services": ["s"], "provider": "p", "config": {"k": 1}}}]),
        json!([{"name": "fixed", "immutable": true, "defaults": {"config": {"k": 2}}},
               {"name": "other", "immutable": true, "defaults": {"config": {"k": 2}}}]),
    );
    let resolved = resolve(&child(&json!({"includes": [{"name": "fixed"}]})), &catalog).unwrap();
    assert_eq!(Value::from(resolved.template.defaults.config), json!({"k": 2}));

    let own = child(&json!({"includes": [{"name": "fixed"}], "defaults": {"config": {"k": 2}}}));
    let fault = resolve(&own, &catalog).unwrap_err().to_string();
    assert!(fault.contains("config key k can't be overridden: cluster template child sets it"), "{fault}");
    let both = child(&json!({"includes": [{"name": "fixed"}, {"name": "other"}]}));
    let fault = resolve(&both, &catalog).unwrap_err().to_string();
    assert!(fault.contains("partial template other") && fault.contains("partial template fixed"), "{fault}");
}

#[test]
fn constraints_administration_and_links_come_from_templates_only() {
    let catalog = catalog(
        json!([{"name": "parent", "defaults": {"services": ["s"], "provider": "p"},
                "constraints": {"size": {"min": 3, "max": 9}, "layout": {"cantcoexist": [["a", "b"]]},
                                "services": {"s": {"quantities": {"max": 2}, "imagetypes": ["i"]}}},
                "administration": {"leaseduration": {"initial": "1h", "max": "2h"}},
                "links": [{"label": "one", "url": "1"}, {"label": "two", "url": "2"}]}]),
        json!([{"name": "part", "immutable": false, "constraints": {"size": {"min": 5}},
                "administration": {"leaseduration": {"initial": 7}}, "links": [{"label": "no", "url": "0"}]}]),
    );
    let resolved = resolve(
        &child(&json!({"includes": [{"name": "part"}], "links": [{"label": "one", "url": "3"}],
            "constraints": {"layout": {"cantcoexist": [["b", "a"], ["c"]]},
                            "services": {"s": {"quantities": {"min": 1}}}}})),
        &catalog,
    );
    let result = serde_json::to_value(resolved.unwrap().template).unwrap();
    let constraints = &result["constraints"];
    assert_eq!(constraints["size"], json!({"min": 3, "max": 9}));
    assert_eq!(constraints["layout"]["cantcoexist"], json!([["a", "b"], ["c"]]));
    assert_eq!(constraints["services"]["s"]["imagetypes"], json!([]));
    assert_eq!(result["administration"]["leaseduration"]["initial"], json!(3_600_000));
    assert_eq!(result["links"], json!([{"label": "one", "url": "3"}, {"label": "two", "url": "2"}]));
}

#[test]
fn a_child_replaces_size_and_administration_as_a_whole() {
    let catalog = catalog(
        json!([{"name": "parent", "defaults": {"services": ["s"], "provider": "p"},
                "constraints": {"size": {"min": 3, "max": 9}},
                "administration": {"leaseduration": {"initial": 1, "max": 2, "step": 1}}}]),
        json!([]),
    );
    let own = child(&json!({"constraints": {"size": {"min": 2}},
                           "administration": {"leaseduration": {"initial": 5}}}));
    let template = resolve(&own, &catalog).unwrap().template;
    assert_eq!(template.constraints.size, SizeLimits { min: 2, ..SizeLimits::default() });
    assert_eq!(template.administration.leaseduration.max, 0);
}

#[test]
fn defaults_stay_allowed_where_only_partials_list_what_is_compatible() {
    let partials = json!([{"name": "part", "immutable": false, "defaults": {"services": ["agent"]},
        "compatibility": {"services": ["agent"], "hardwaretypes": ["big"], "imagetypes": []}}]);
    let catalog = catalog(json!([]), partials);
    let open = json!({"name": "x", "includes": [{"name": "part"}],
        "defaults": {"services": ["web"], "provider": "p", "hardwaretype": "small", "imagetype": "i"}});
    let lists = resolve(&template(open.clone()), &catalog).unwrap().template.compatibility;
    assert_eq!(lists.services, ["agent".to_owned(), "web".to_owned()].into());
    assert_eq!(lists.hardwaretypes, ["big".to_owned(), "small".to_owned()].into());
    assert!(lists.imagetypes.is_empty());

    let mut closed = open;
    closed["compatibility"] = json!({"services": ["other"]});
    let lists = resolve(&template(closed), &catalog).unwrap().template.compatibility;
    assert_eq!(lists.services, ["agent".to_owned(), "other".to_owned()].into());
}

#[test]
fn the_result_needs_services_a_provider_and_a_proper_domain() {
    let fault = |defaults: Value| {
        resolve(&template(json!({"name": "x", "defaults": defaults})), &Catalog::default())
            .unwrap_err()
            .to_string()
    };
    assert!(fault(json!({"provider": "p"})).contains("services must be specified"));
    assert!(fault(json!({"services": ["s"], "provider": " "})).contains("default provider"));
    assert!(fault(json!({"services": ["s"], "provider": "p", "dnsSuffix": ".com"})).contains("DNS"));
}
