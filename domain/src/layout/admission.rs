//! What must hold before a layout is looked for: usable hardware and images, and services that fit together.

use std::collections::{BTreeMap, BTreeSet};

use super::reason::{Reason, ReasonKind, RemedyStep, listed};
use super::{Catalog, LayoutRequest};
use crate::dependency_cycle::{Phase, dependency_cycles};
use crate::entity::{
    ClusterTemplate, Compatibility, Kind, Requirement, Requirements, Scope, Service, SizeLimits,
};

/// The request with the template's defaults filled in; empty text and empty lists count as not given.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub machines: u32,
    pub services: BTreeSet<String>,
    pub hardwaretype: Option<String>,
    pub imagetype: Option<String>,
    pub ancestors: BTreeSet<String>,
}

impl Wanted {
    pub(super) fn new(template: &ClusterTemplate, request: &LayoutRequest) -> Self {
        let defaults = &template.defaults;
        let pick = |asked: &Option<String>, default: &Option<String>| {
            [asked, default].into_iter().flatten().find(|name| !name.is_empty()).cloned()
        };
        let asked = request.services.as_ref().filter(|services| !services.is_empty());
        Self {
            machines: request.machines,
            services: asked.unwrap_or(&defaults.services).clone(),
            hardwaretype: pick(&request.hardwaretype, &defaults.hardwaretype),
            imagetype: pick(&request.imagetype, &defaults.imagetype),
            ancestors: request.ancestors.clone(),
        }
    }
}

/// The types nodes may be made of, each list in alphabetical order.
#[derive(Debug, Clone, Default)]
pub(super) struct UsableTypes {
    pub hardware: Vec<String>,
    pub images: Vec<String>,
}

/// Everything that must hold before a layout for a new cluster is looked for, in Coopr's order: size, hardware types,
/// image types, compatible services, existing services, requirements, conflicts, circles. Coopr stops at the first
/// that does not hold; here all are reported together.
pub(super) fn admit(catalog: &Catalog<'_>, wanted: &Wanted) -> Result<UsableTypes, Vec<Reason>> {
    let template = catalog.template;
    let mut reasons: Vec<Reason> = check_size(template, wanted.machines).err().into_iter().collect();
    let types = usable_types(catalog, wanted).unwrap_or_else(|faults| {
        reasons.extend(faults);
        UsableTypes::default()
    });
    if wanted.services.is_empty() {
        reasons.push(Reason::new(
            ReasonKind::NoServices,
            "no services were requested",
            format!(
                "name at least one service, or add some to defaults.services of template {}",
                template.base.name
            ),
        ));
    }
    reasons.extend(incompatible(template, &wanted.services));
    reasons.extend(missing(catalog.services, &wanted.services));
    reasons.extend(misfits(catalog.services, &wanted.services, &wanted.ancestors));
    if reasons.is_empty() { Ok(types) } else { Err(reasons) }
}

/// Whether a cluster of `template` may have so many machines.
///
/// # Errors
/// States the limits, the number and the template's name.
pub fn check_size(template: &ClusterTemplate, machines: u32) -> Result<(), Reason> {
    let SizeLimits { min, max } = template.constraints.size;
    let min = min.max(1);
    if (min..=max).contains(&machines) {
        return Ok(());
    }
    let name = &template.base.name;
    Err(Reason::new(
        ReasonKind::Size,
        format!(
            "{machines} machines are too few or too many: the size must be {min} to {max} with template {name}"
        ),
        format!("ask for {min} to {max} machines, or change constraints.size of the template"),
    )
    .helped_by((min <= max).then(|| RemedyStep::Machines { count: machines.clamp(min, max) })))
}

/// The hardware and image types that exist, that the template allows and that the provider has a word for; only the
/// wanted one where one is wanted.
pub(super) fn usable_types(catalog: &Catalog<'_>, wanted: &Wanted) -> Result<UsableTypes, Vec<Reason>> {
    let compatibility = &catalog.template.compatibility;
    let hardware = Choice {
        kind: Kind::HardwareType,
        reason: ReasonKind::HardwareType,
        word: "flavor",
        wanted: wanted.hardwaretype.as_deref(),
        allowed: &compatibility.hardwaretypes,
        offered: catalog
            .hardware
            .iter()
            .map(|hardware| (hardware.base.name.as_str(), hardware.flavor(catalog.provider).is_some()))
            .collect(),
    };
    let images = Choice {
        kind: Kind::ImageType,
        reason: ReasonKind::ImageType,
        word: "image",
        wanted: wanted.imagetype.as_deref(),
        allowed: &compatibility.imagetypes,
        offered: catalog
            .images
            .iter()
            .map(|image| (image.base.name.as_str(), image.image(catalog.provider).is_some()))
            .collect(),
    };
    match (hardware.usable(catalog), images.usable(catalog)) {
        (Ok(hardware), Ok(images)) => Ok(UsableTypes { hardware, images }),
        (hardware, images) => Err([hardware.err(), images.err()].into_iter().flatten().collect()),
    }
}

/// One of hardware types and image types, and which of them come into question.
struct Choice<'a> {
    kind: Kind,
    reason: ReasonKind,
    /// The key a type's entry for the provider must have.
    word: &'static str,
    wanted: Option<&'a str>,
    allowed: &'a BTreeSet<String>,
    /// All that exist, and whether the provider has a word for each.
    offered: Vec<(&'a str, bool)>,
}

impl Choice<'_> {
    fn usable(&self, catalog: &Catalog<'_>) -> Result<Vec<String>, Reason> {
        let mut names: Vec<String> = self
            .offered
            .iter()
            .filter(|(name, known)| {
                *known && self.is_wanted(name) && Compatibility::allows(self.allowed, name)
            })
            .map(|(name, _)| (*name).to_owned())
            .collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() { Err(self.none_left(catalog)) } else { Ok(names) }
    }

    fn is_wanted(&self, name: &str) -> bool {
        self.wanted.is_none_or(|wanted| wanted == name)
    }

    fn none_left(&self, catalog: &Catalog<'_>) -> Reason {
        let (nouns, word) = (format!("{}s", self.kind.noun()), self.word);
        let (template, provider) = (&catalog.template.base.name, catalog.provider);
        let mut why: Vec<String> = self
            .offered
            .iter()
            .filter(|(name, _)| self.is_wanted(name))
            .map(|(name, _)| {
                if Compatibility::allows(self.allowed, name) {
                    format!("{name} has no {word} for the provider")
                } else {
                    format!("{name} is not in the template's compatibility.{}", self.kind.plural())
                }
            })
            .collect();
        if why.is_empty() {
            why.push(self.wanted.map_or_else(
                || format!("there are no {nouns}"),
                |wanted| format!("{} {wanted}, which is wanted, does not exist", self.kind.noun()),
            ));
        }
        let open: Vec<&str> = self
            .offered
            .iter()
            .filter(|(name, known)| *known && Compatibility::allows(self.allowed, name))
            .map(|(name, _)| *name)
            .collect();
        let remedy = if open.is_empty() {
            format!("give an allowed {} a {word} under providermap.{provider}", self.kind.noun())
        } else {
            format!("ask for {} instead", listed(&open, "or"))
        };
        let fault = format!(
            "no {nouns} are available to use with template {template} and provider {provider}: {}",
            why.join(", ")
        );
        let step = |name: &str| {
            let name = name.to_owned();
            match self.kind {
                Kind::ImageType => RemedyStep::ImageType { name },
                _ => RemedyStep::HardwareType { name },
            }
        };
        Reason::new(self.reason, fault, remedy).helped_by(open.into_iter().map(step))
    }
}

/// The services of the list that the template does not allow, in one line.
pub(super) fn incompatible(template: &ClusterTemplate, services: &BTreeSet<String>) -> Option<Reason> {
    let allowed = &template.compatibility.services;
    let outside: Vec<&str> =
        services.iter().map(String::as_str).filter(|name| !Compatibility::allows(allowed, name)).collect();
    let verb = if outside.len() == 1 { "is" } else { "are" };
    (!outside.is_empty()).then(|| {
        Reason::new(
            ReasonKind::IncompatibleService,
            format!("{} {verb} incompatible with the cluster", outside.join(",")),
            format!(
                "leave out {}, or add to compatibility.services of template {}",
                listed(&outside, "and"),
                template.base.name
            ),
        )
        // Leaving out one of several does not help by itself.
        .helped_by(RemedyStep::without(outside.iter().copied().filter(|_| outside.len() == 1)))
    })
}

/// A line for every service of the list that does not exist.
pub(super) fn missing(known: &[Service], services: &BTreeSet<String>) -> Vec<Reason> {
    let exists = |name: &str| known.iter().any(|service| service.name() == name);
    services
        .iter()
        .filter(|name| !exists(name))
        .map(|name| {
            Reason::new(
                ReasonKind::MissingService,
                format!("service {name} does not exist"),
                "create it, or leave it out",
            )
            .helped_by(RemedyStep::without([name.as_str()]))
        })
        .collect()
}

/// A line for every requirement nothing provides, every conflict and every circle among the services that make up a
/// cluster.
///
/// `uses` never asks for anything. Conflicts name services, not what they provide.
pub(super) fn misfits(
    known: &[Service],
    cluster: &BTreeSet<String>,
    ancestors: &BTreeSet<String>,
) -> Vec<Reason> {
    let members: Vec<&Service> = known.iter().filter(|service| cluster.contains(service.name())).collect();
    let mut reasons = unmet(known, &members, cluster, ancestors);
    for service in &members {
        let rivals = service.dependencies.conflicts.intersection(cluster);
        reasons.extend(rivals.filter(|rival| *rival != service.name()).map(|rival| {
            let name = service.name();
            Reason::new(
                ReasonKind::Conflict,
                format!("{name} conflicts with {rival}"),
                format!("leave out {name} or {rival}"),
            )
            .helped_by(RemedyStep::without([name, rival.as_str()]))
        }));
    }
    reasons.extend(dependency_cycles(members).into_iter().map(|cycle| {
        Reason::new(
            ReasonKind::DependencyCycle,
            cycle.to_string(),
            format!(
                "take one of these names out of dependencies.{} of the service before it, so that one can come first",
                cycle.phase
            ),
        )
    }));
    reasons
}

/// A line for every requirement that nothing meets: no service of the cluster, nor, where it is looked for there too,
/// one of `ancestors`: the names that the services of clusters it is built on answer to.
fn unmet(
    known: &[Service],
    members: &[&Service],
    cluster: &BTreeSet<String>,
    ancestors: &BTreeSet<String>,
) -> Vec<Reason> {
    // A requested service that does not exist has its own line already, so nobody misses it.
    let met = |required: &Requirement| {
        cluster.contains(&required.name)
            || members.iter().any(|member| member.satisfies(&required.name))
            || (required.scope == Scope::Ancestors && ancestors.contains(&required.name))
    };
    let mut reasons = Vec::new();
    for service in members {
        let needs = Phase::ALL.map(|phase| &phase.dependencies(service).requires);
        let gaps: BTreeMap<&str, &Requirement> = needs
            .into_iter()
            .flat_map(Requirements::each)
            .filter(|required| !met(required))
            .map(|required| (required.name.as_str(), required))
            .collect();
        reasons.extend(gaps.into_values().map(|gap| unmet_line(known, service, gap)));
    }
    reasons
}

fn unmet_line(known: &[Service], service: &Service, gap: &Requirement) -> Reason {
    let (name, missed) = (service.name(), &gap.name);
    let providers: Vec<&str> =
        known.iter().filter(|other| other.satisfies(missed)).map(Service::name).collect();
    let remedy = if providers.is_empty() {
        format!("create a service that is called or provides {missed}, or leave {name} out")
    } else {
        format!("add {}, or leave {name} out", listed(&providers, "or"))
    };
    let (place, elsewhere) = match gap.scope {
        Scope::Ancestors => (
            "not on the cluster, in the list of services or on a cluster that it is built on",
            format!("build the cluster on one that has {missed}, "),
        ),
        Scope::Node | Scope::Cluster => ("not on the cluster or in the list of services", String::new()),
    };
    Reason::new(
        ReasonKind::UnmetRequirement,
        format!("{name} requires {missed}, which is {place}"),
        format!("{elsewhere}{remedy}"),
    )
    .helped_by(providers.into_iter().map(|service| RemedyStep::AddService { service: service.to_owned() }))
    .helped_by(RemedyStep::without([name]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scope: Scope, cluster: &[&str], ancestors: &[&str]) -> Vec<String> {
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<BTreeSet<String>>();
        let mut web = Service::default();
        web.base.name = "web".to_owned();
        web.dependencies.runtime.requires.insert(Requirement { scope, ..Requirement::plain("sql") });
        let mut pg = Service::default();
        pg.base.name = "pg".to_owned();
        pg.dependencies.provides = names(&["sql"]);
        let known = [web, pg];
        let members: Vec<&Service> = known.iter().filter(|one| cluster.contains(&one.name())).collect();
        let reasons = unmet(&known, &members, &names(cluster), &names(ancestors));
        reasons.iter().map(|reason| format!("{}; {}", reason.fault, reason.remedy)).collect()
    }

    #[test]
    fn ancestors_answer_what_is_looked_for_there_and_nothing_else() {
        assert!(texts(Scope::Ancestors, &["web"], &["sql"]).is_empty());
        assert!(texts(Scope::Ancestors, &["pg", "web"], &[]).is_empty());
        assert_eq!(texts(Scope::Cluster, &["web"], &["sql"]).len(), 1);
        assert_eq!(
            texts(Scope::Ancestors, &["web"], &["dns"]),
            [
                "web requires sql, which is not on the cluster, in the list of services or on a cluster that it is \
              built on; build the cluster on one that has sql, add pg, or leave web out"
            ]
        );
    }
}
