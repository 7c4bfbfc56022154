//! Services: what runs on nodes, what each needs, and how it is brought up.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::base::{Base, Entity, Kind, Link, check_name};
use super::requirement::{Members, Requirement, Requirements, Scope, Written};
use crate::cluster::outputs;
use crate::invalid::Invalid;
use crate::macros;

/// Something that runs on nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Service {
    /// Common fields.
    #[serde(flatten)]
    pub base: Base,
    /// What it needs, provides and cannot stand.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub dependencies: Dependencies,
    /// How it is brought up.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub provisioner: ServiceProvisioner,
    /// Shown per node that carries the service.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub links: Vec<Link>,
    /// What can be run on it beside its life, by name: a backup, a smoke test.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub errands: BTreeMap<String, Errand>,
    /// Its own configuration, where nobody says otherwise: the weakest layer.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "Map::is_empty"
    )]
    #[schema(value_type = Object)]
    pub defaults: Map<String, Value>,
    /// The values it takes. It is brought up again when one of them changes, and only then. Absent: it takes the whole
    /// configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<Input>>,
    /// The values it gives to services that take them.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub outputs: Vec<Output>,
    /// What is done when a value that it takes changes.
    #[serde(default, skip_serializing_if = "OnChange::is_default")]
    pub onchange: OnChange,
    /// Whether its steps are not repeated while its machine lives, whatever changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

/// Something that can be run on a service on request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Errand {
    /// Which automator carries it out, and with what.
    #[serde(flatten)]
    pub action: ActionSpec,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// On which nodes it runs unless some are named.
    #[serde(default)]
    pub on: ErrandNodes,
}

/// On which of the nodes that carry a service an errand runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrandNodes {
    /// On the one with the lowest number.
    #[default]
    One,
    /// On all of them.
    All,
}

/// A value that a service takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Input {
    /// How the service calls it.
    pub name: String,
    /// Where it comes from: a place in the configuration (`nginx.port`), or `outputs.SERVICE.NAME` for what another
    /// service gives. Absent: the place in the configuration that is called as the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A value that a service gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Output {
    /// How services that take it call it.
    pub name: String,
    /// Its name in what the service's tasks report. Absent: as the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What a value must be like: a JSON Schema. A task that reports another one has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    /// The value while none has been reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether the value is a secret: shown to nobody but the tasks of services that take it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
}

/// What is done when a value that a service takes changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnChange {
    /// Its configuration is written, and it is stopped and started.
    #[default]
    Restart,
    /// Its configuration is written, and it is started once more: its start lets a running service take it up.
    Reload,
    /// Its configuration is written; writing it is enough for a running service to take it up.
    Configure,
}

impl OnChange {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Input {
    /// Where it comes from.
    #[must_use]
    pub fn place(&self) -> &str {
        self.at.as_deref().unwrap_or(&self.name)
    }
}

impl Output {
    /// Its name in what tasks report.
    #[must_use]
    pub fn reported(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.name)
    }
}

impl Output {
    fn check(&self) -> Result<(), Invalid> {
        if self.name.is_empty() {
            return Err(Invalid::new("outputs.name", "", "is empty", "say how others call the value"));
        }
        if self.sensitive && self.default.is_some() {
            let fault = "has a default, which would be stored in clear, but is sensitive";
            let remedy = "leave the default out, or let it be no secret";
            return Err(Invalid::new("outputs.default", &self.name, fault, remedy));
        }
        let Some(schema) = &self.schema else { return Ok(()) };
        outputs::check_schema(schema, self.default.as_ref()).map_err(|(field, words)| {
            let (fault, remedy) = match field {
                "schema" => (
                    "has a schema that cannot be used",
                    "correct the JSON Schema; it may refer to itself only",
                ),
                _ => ("has a default that is not as its schema says", "correct the default, or the schema"),
            };
            Invalid::new(format!("outputs.{field}"), &self.name, format!("{fault}: {words}"), remedy)
        })
    }
}

/// What a service needs, provides and cannot stand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Dependencies {
    /// Names this service satisfies besides its own.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub provides: BTreeSet<String>,
    /// Services that may not be on the same cluster.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub conflicts: BTreeSet<String>,
    /// Order of INSTALL.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub install: PhaseDependencies,
    /// Order of INITIALIZE, START and STOP.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub runtime: PhaseDependencies,
}

/// Dependencies of one phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PhaseDependencies {
    /// Must be there, and comes first.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    #[schema(value_type = Vec<Written>)]
    pub requires: Requirements,
    /// Comes first if it is on the cluster.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub uses: BTreeSet<String>,
}

impl PhaseDependencies {
    /// Everything that comes first: `requires` and `uses`.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.requires.iter().chain(&self.uses)
    }
}

/// How a service is brought up: an automator and its fields for each action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServiceProvisioner {
    /// An action that is absent is not needed by this service.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub actions: BTreeMap<ServiceAction, ActionSpec>,
}

/// What can be done with a service on a node. The four machine actions are accepted for old documents and have no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServiceAction {
    /// Put its files on the node.
    Install,
    /// Write its configuration.
    Configure,
    /// Prepare its data, once.
    Initialize,
    /// Make it run.
    Start,
    /// Make it rest.
    Stop,
    /// Take its files off the node.
    Remove,
    /// Find out whether it is well; changes nothing.
    Probe,
    /// One of its errands; not among a service's actions.
    Errand,
    /// Accepted, without use.
    Create,
    /// Accepted, without use.
    Confirm,
    /// Accepted, without use.
    Bootstrap,
    /// Accepted, without use.
    Delete,
}

/// Which automator carries an action out, and with what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActionSpec {
    /// Name of the automator type.
    #[serde(rename = "type")]
    pub automator: String,
    /// Values for the automator's fields.
    #[serde(default, deserialize_with = "crate::lenient::text_map")]
    pub fields: BTreeMap<String, String>,
    /// How long an attempt at it may take, in seconds; without it, as long as the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u32>,
}

impl Service {
    /// The service's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.base.name
    }

    /// The automator types its actions use.
    pub fn automators(&self) -> impl Iterator<Item = &str> {
        let errands = self.errands.values().map(|errand| &errand.action);
        self.provisioner.actions.values().chain(errands).map(|action| action.automator.as_str())
    }

    /// Whether it satisfies a requirement for `name`: it is called so, or provides it.
    #[must_use]
    pub fn satisfies(&self, name: &str) -> bool {
        self.base.name == name || self.dependencies.provides.contains(name)
    }
}

impl Service {
    fn check_errands(&self) -> Result<(), Invalid> {
        for (name, errand) in &self.errands {
            check_name("errands", name)?;
            if errand.action.automator.is_empty() {
                let remedy = "name the automator that carries the errand out, for example 'shell'";
                return Err(Invalid::new(format!("errands.{name}.type"), "", "is empty", remedy));
            }
        }
        Ok(())
    }

    fn check_defaults(&self) -> Result<(), Invalid> {
        macros::references(&Value::Object(self.defaults.clone())).map(drop).map_err(|fault| {
            let fault = format!("hold a macro that cannot be read: {fault}");
            Invalid::new("defaults", "", fault, "correct the macro")
        })
    }

    fn check_inputs(&self) -> Result<(), Invalid> {
        let own = format!("outputs.{}.", self.base.name);
        for input in self.inputs.iter().flatten() {
            if input.name.is_empty() {
                return Err(Invalid::new(
                    "inputs.name",
                    "",
                    "is empty",
                    "say how the service calls the value",
                ));
            }
            if input.place().starts_with(&own) {
                let fault = "is the service's own output";
                return Err(Invalid::new("inputs.at", input.place(), fault, "take it from another service"));
            }
        }
        self.outputs.iter().try_for_each(Output::check)
    }
}

impl Service {
    /// Nobody waits for itself, and a service is looked for in one place.
    fn check_dependencies(&self) -> Result<(), Invalid> {
        let Dependencies { install, runtime, .. } = &self.dependencies;
        for (phase, needs) in [("install", install), ("runtime", runtime)] {
            if needs.all().any(|name| name == &self.base.name) {
                return Err(Invalid::new(
                    format!("dependencies.{phase}"),
                    &self.base.name,
                    "is the service itself",
                    "a service cannot wait for itself: drop the name",
                ));
            }
        }
        let alone = |one: &&Requirement| one.scope == Scope::Node && one.members == Members::All;
        for (phase, needs) in [("install", install), ("runtime", runtime)] {
            if let Some(one) = needs.requires.each().find(alone) {
                return Err(Invalid::new(
                    format!("dependencies.{phase}.requires"),
                    &one.name,
                    "is wanted on the same machine, where there is one of it, and with members 'all'",
                    "leave members out, or give it the scope 'cluster'",
                ));
            }
        }
        let elsewhere = |one: &&Requirement| {
            install.requires.get(&one.name).is_some_and(|other| other.scope != one.scope)
        };
        match runtime.requires.each().find(elsewhere) {
            Some(one) => Err(Invalid::new(
                "dependencies.runtime.requires",
                &one.name,
                "has another scope in dependencies.install.requires",
                "give it the same scope (node, cluster or ancestors) in both",
            )),
            None => Ok(()),
        }
    }
}

impl Entity for Service {
    const KIND: Kind = Kind::Service;

    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check(&self) -> Result<(), Invalid> {
        check_name("name", &self.base.name)?;
        if self.provisioner.actions.contains_key(&ServiceAction::Errand) {
            let remedy = "errands stand in a field of their own: errands.NAME";
            return Err(Invalid::new("provisioner.actions.errand", "errand", "is no action", remedy));
        }
        self.check_errands()?;
        self.check_inputs()?;
        self.check_defaults()?;
        for (action, spec) in &self.provisioner.actions {
            if spec.automator.is_empty() {
                return Err(Invalid::new(
                    format!("provisioner.actions.{action:?}.type").to_lowercase(),
                    "",
                    "is empty",
                    "name the automator that carries the action out, for example 'shell'",
                ));
            }
        }
        if let Some((action, _)) = self.provisioner.actions.iter().find(|(_, spec)| spec.timeout == Some(0)) {
            return Err(Invalid::new(
                format!("provisioner.actions.{action:?}.timeout").to_lowercase(),
                "0",
                "is no time at all",
                "give a number of seconds, or leave it out for the time that is set for all",
            ));
        }
        for link in &self.links {
            if link.url.is_empty() {
                return Err(Invalid::new("links.url", "", "is empty", "give the link an address"));
            }
        }
        self.check_dependencies()
    }
}
