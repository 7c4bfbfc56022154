//! What Coopr insists on in a document although it could do without; kept for its routes, so that programs see what they
//! know. Documents that come by `/v2/apply` may leave these out.

use cooperage_domain::entity::Kind;
use cooperage_domain::invalid::Invalid;
use serde_json::Value;

/// Checks that a document of this kind says what Coopr insists on.
///
/// # Errors
/// The first thing that is missing.
pub fn check_presence(kind: Kind, document: &Value) -> Result<(), Invalid> {
    match kind {
        Kind::HardwareType | Kind::ImageType => require(document, "providermap", "{}"),
        Kind::Service => service(document),
        Kind::ClusterTemplate | Kind::PartialTemplate => constraints(document),
        Kind::Provider | Kind::ProviderType | Kind::AutomatorType => Ok(()),
    }
}

fn service(document: &Value) -> Result<(), Invalid> {
    if !document["dependencies"].is_null() {
        require(document, "dependencies.provides", "[]")?;
        require(document, "dependencies.conflicts", "[]")?;
    }
    if document["provisioner"].is_null() { Ok(()) } else { require(document, "provisioner.actions", "{}") }
}

fn constraints(document: &Value) -> Result<(), Invalid> {
    let Some(services) = document["constraints"]["services"].as_object() else { return Ok(()) };
    for (name, constraint) in services {
        if constraint["quantities"].is_null() {
            return Err(missing(format!("constraints.services.{name}.quantities"), "{}"));
        }
    }
    Ok(())
}

fn require(document: &Value, path: &str, empty: &str) -> Result<(), Invalid> {
    let found = path.split('.').try_fold(document, |value, key| value.get(key));
    match found {
        None | Some(Value::Null) => Err(missing(path, empty)),
        Some(_) => Ok(()),
    }
}

fn missing(path: impl Into<String>, empty: &str) -> Invalid {
    Invalid::new(path, "", "is missing", format!("add it; {empty} if there is nothing to say"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_coopr_insists_on_is_named() {
        let faults = [
            (Kind::HardwareType, json!({"name": "h"}), "providermap"),
            (Kind::Service, json!({"dependencies": {"provides": []}}), "dependencies.conflicts"),
            (Kind::Service, json!({"provisioner": {}}), "provisioner.actions"),
            (
                Kind::ClusterTemplate,
                json!({"constraints": {"services": {"a": {}}}}),
                "constraints.services.a.quantities",
            ),
        ];
        for (kind, document, field) in faults {
            assert_eq!(check_presence(kind, &document).unwrap_err().field, field);
        }
        assert!(check_presence(Kind::Service, &json!({"name": "s"})).is_ok());
        assert!(check_presence(Kind::PartialTemplate, &json!({"constraints": {}})).is_ok());
    }
}
