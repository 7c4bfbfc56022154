//! What forms show of this provider.

use std::collections::BTreeMap;

use cooperage_domain::entity::{Base, FieldSchema, ParameterSet, Parameters, PluginType, ProviderType};

use super::PROVIDER_TYPE;

/// Name, label and tip of each field an administrator may fill in. None is required.
const FIELDS: [(&str, &str, &str); 4] = [
    (
        "network",
        "Network",
        "Private range for the machines, for example 10.77.0.0/24. Empty: one this host does not use",
    ),
    (
        "bridge",
        "Bridge",
        "Name of the bridge made for the machines, at most 15 characters. Empty: a name of its own",
    ),
    ("cpus", "Processors", "Limit for flavor 'default', for example 2 or 0.5. Empty: no limit"),
    ("memory", "Memory", "Limit for flavor 'default', for example 512m or 4g. Empty: no limit"),
];

/// The provider's descriptor.
pub(super) fn descriptor() -> ProviderType {
    let fields: BTreeMap<_, _> =
        FIELDS.map(|(name, label, tip)| (name.to_owned(), text_field(label, tip))).into();
    ProviderType(PluginType {
        base: Base {
            name: PROVIDER_TYPE.to_owned(),
            label: Some("This host".to_owned()),
            description: Some(
                "Machines on the server's own host, each a full system (systemd-nspawn)".to_owned(),
            ),
            ..Base::default()
        },
        parameters: Parameters {
            admin: ParameterSet { fields, required: Vec::new() },
            user: ParameterSet::default(),
        },
        ..PluginType::default()
    })
}

fn text_field(label: &str, tip: &str) -> FieldSchema {
    FieldSchema {
        label: label.to_owned(),
        kind: "text".to_owned(),
        tip: tip.to_owned(),
        options: None,
        default: None,
        overridable: false,
        sensitive: false,
    }
}

#[cfg(test)]
mod tests {
    use cooperage_domain::entity::Entity;

    use super::*;

    #[test]
    fn it_is_a_valid_provider_type() {
        let descriptor = descriptor();
        assert_eq!(descriptor.base().name, "local");
        assert_eq!(descriptor.check(), Ok(()));
    }
}
