//! Resolving a template: merging it with the templates it extends and the partial templates all of them include.
//!
//! Merged in order, later ones over earlier ones: for each template from the remotest ancestor to the one resolved,
//! first its partials as listed, then itself. A partial met again is left out.
//!
//! | section | rule |
//! |---|---|
//! | name, label, description, icon, version, `extends`, `includes` | of the template resolved |
//! | `defaults.services`, `compatibility.*` | union |
//! | `defaults.config` | by top-level key, the whole value replaced |
//! | other `defaults` | replaced when not blank |
//! | `constraints.services` | by service, the whole constraint replaced; partials do not count |
//! | `constraints.layout.*` | union of the sets; partials do not count |
//! | `constraints.size` | replaced as a whole when it limits anything; partials do not count |
//! | `administration` | replaced as a whole when it limits anything; partials do not count |
//! | `links` | added; one with the same label replaced; partials do not count |
//!
//! Differences to Coopr, where the outcome was an accident: it lost all links; it reset the size limits when a child
//! stated any other constraint; it never ended on templates that extend each other; and it let a partial that lists
//! what is compatible forbid the very defaults of templates that list nothing. Here such defaults stay allowed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::entity::{
    Administration, ClusterTemplate, Compatibility, Constraints, Defaults, Entity, Kind, Link,
    PartialTemplate, SizeLimits,
};
use crate::hostname::check_dns_suffix;
use crate::invalid::Invalid;

/// The templates that may be referred to, by name.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Parents.
    pub templates: BTreeMap<String, ClusterTemplate>,
    /// Parts.
    pub partials: BTreeMap<String, PartialTemplate>,
}

/// A resolved template and what it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The result.
    pub template: ClusterTemplate,
    /// What was merged, in order: later ones won. The last is the template itself.
    pub sources: Vec<Source>,
}

/// A document that went into a resolved template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Cluster template or partial template.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its version, if it was stored.
    pub version: Option<u64>,
}

/// Why a template cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// It refers to what does not exist.
    #[error("{} {name} not found: {referrer} refers to it; create it, or drop the reference", kind.noun())]
    NotFound {
        /// Cluster template or partial template.
        kind: Kind,
        /// What is missing.
        name: String,
        /// The template that refers to it.
        referrer: String,
    },
    /// Its ancestors go round in a circle.
    #[error("cluster template {} extends itself: {}; take one 'extends' out", chain[0], chain.join(" extends "))]
    Loop {
        /// The names along the circle; the first is also the last.
        chain: Vec<String>,
    },
    /// It sets what an immutable partial fixed.
    #[error(
        "config key {key} can't be overridden: {} {by} sets it, but immutable partial template {partial} does so \
         before; drop {key} from {by}",
        kind.noun()
    )]
    Immutable {
        /// The top-level key of the configuration.
        key: String,
        /// The partial that fixed it.
        partial: String,
        /// What sets it again: cluster template or partial template.
        kind: Kind,
        /// Its name.
        by: String,
    },
    /// The result breaks a rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// Merges `template` with its ancestors and all their partials.
///
/// # Errors
/// When something referred to does not exist, ancestors form a circle, an immutable key is set again, or the result has
/// no default service, no default provider, or a domain that is none.
pub fn resolve(template: &ClusterTemplate, catalog: &Catalog) -> Result<Resolved, ResolveError> {
    let resolved = merge(template, catalog)?;
    check(&resolved.template)?;
    Ok(resolved)
}

/// As [`resolve()`], for a request that may name what the result leaves open: it need not have default services, a default
/// provider or a domain.
///
/// # Errors
/// When something referred to does not exist, ancestors form a circle, or an immutable key is set again.
pub fn merge(template: &ClusterTemplate, catalog: &Catalog) -> Result<Resolved, ResolveError> {
    let lineage = lineage(template, catalog)?;
    let mut merge = Merge::new(template);
    for ancestor in &lineage {
        for include in &ancestor.includes {
            let partial = catalog.partials.get(&include.name).ok_or_else(|| ResolveError::NotFound {
                kind: Kind::PartialTemplate,
                name: include.name.clone(),
                referrer: ancestor.base.name.clone(),
            })?;
            merge.partial(partial)?;
        }
        merge.template(ancestor)?;
    }
    Ok(merge.finish(&lineage))
}

/// The template and its ancestors, the remotest first.
fn lineage<'a>(
    template: &'a ClusterTemplate,
    catalog: &'a Catalog,
) -> Result<Vec<&'a ClusterTemplate>, ResolveError> {
    let mut lineage = vec![template];
    let mut youngest_known = template;
    while let Some(parent) = &youngest_known.extends {
        if let Some(at) = lineage.iter().position(|known| known.base.name == parent.name) {
            let circle = lineage[at..].iter().map(|known| known.base.name.clone());
            return Err(ResolveError::Loop { chain: circle.chain([parent.name.clone()]).collect() });
        }
        youngest_known = catalog.templates.get(&parent.name).ok_or_else(|| ResolveError::NotFound {
            kind: Kind::ClusterTemplate,
            name: parent.name.clone(),
            referrer: youngest_known.base.name.clone(),
        })?;
        lineage.push(youngest_known);
    }
    lineage.reverse();
    Ok(lineage)
}

/// A merge under way.
struct Merge {
    result: ClusterTemplate,
    sources: Vec<Source>,
    /// Top-level configuration keys that may not be set again, with the partial that fixed them.
    fixed: BTreeMap<String, String>,
}

impl Merge {
    fn new(template: &ClusterTemplate) -> Self {
        let result = ClusterTemplate {
            base: template.base.clone(),
            extends: template.extends.clone(),
            includes: template.includes.clone(),
            ..ClusterTemplate::default()
        };
        Self { result, sources: Vec::new(), fixed: BTreeMap::new() }
    }

    fn partial(&mut self, partial: &PartialTemplate) -> Result<(), ResolveError> {
        if self.sources.iter().any(|it| it.kind == Kind::PartialTemplate && it.name == partial.base.name) {
            return Ok(());
        }
        self.begin(partial, &partial.defaults)?;
        unite(&mut self.result.compatibility, &partial.compatibility);
        if partial.immutable {
            let keys = partial.defaults.config.keys();
            self.fixed.extend(keys.map(|key| (key.clone(), partial.base.name.clone())));
        }
        Ok(())
    }

    fn template(&mut self, template: &ClusterTemplate) -> Result<(), ResolveError> {
        self.begin(template, &template.defaults)?;
        unite(&mut self.result.compatibility, &template.compatibility);
        constrain(&mut self.result.constraints, &template.constraints);
        if template.administration != Administration::default() {
            self.result.administration = template.administration;
        }
        add_links(&mut self.result.links, &template.links);
        Ok(())
    }

    /// Takes note of a document and merges its defaults.
    fn begin<E: Entity>(&mut self, document: &E, defaults: &Defaults) -> Result<(), ResolveError> {
        let base = document.base();
        let again = defaults.config.keys().find_map(|key| self.fixed.get_key_value(key));
        if let Some((key, partial)) = again {
            return Err(ResolveError::Immutable {
                key: key.clone(),
                partial: partial.clone(),
                kind: E::KIND,
                by: base.name.clone(),
            });
        }
        self.sources.push(Source { kind: E::KIND, name: base.name.clone(), version: base.version });
        merge_defaults(&mut self.result.defaults, defaults);
        Ok(())
    }

    fn finish(mut self, lineage: &[&ClusterTemplate]) -> Resolved {
        keep_defaults_allowed(&mut self.result, lineage);
        Resolved { template: self.result, sources: self.sources }
    }
}

fn merge_defaults(into: &mut Defaults, from: &Defaults) {
    into.services.extend(from.services.iter().cloned());
    for (target, source) in [
        (&mut into.provider, &from.provider),
        (&mut into.hardwaretype, &from.hardwaretype),
        (&mut into.imagetype, &from.imagetype),
        (&mut into.dns_suffix, &from.dns_suffix),
    ] {
        if stated(source).is_some() {
            target.clone_from(source);
        }
    }
    into.config.extend(from.config.iter().map(|(key, value)| (key.clone(), value.clone())));
}

/// A text that says something.
fn stated(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.trim().is_empty())
}

fn unite(into: &mut Compatibility, from: &Compatibility) {
    into.services.extend(from.services.iter().cloned());
    into.hardwaretypes.extend(from.hardwaretypes.iter().cloned());
    into.imagetypes.extend(from.imagetypes.iter().cloned());
}

fn constrain(into: &mut Constraints, from: &Constraints) {
    for (rules, more) in [
        (&mut into.layout.mustcoexist, &from.layout.mustcoexist),
        (&mut into.layout.cantcoexist, &from.layout.cantcoexist),
    ] {
        for rule in more {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    into.services.extend(from.services.iter().map(|(name, rule)| (name.clone(), rule.clone())));
    if from.size != SizeLimits::default() {
        into.size = from.size;
    }
}

fn add_links(into: &mut Vec<Link>, from: &[Link]) {
    for link in from {
        match into.iter_mut().find(|known| known.label == link.label) {
            Some(known) => known.url.clone_from(&link.url),
            None => into.push(link.clone()),
        }
    }
}

/// Adds the defaults to each white list that comes from partials alone: templates that list nothing allow everything, so
/// what they use by default must not become forbidden by a part they include.
fn keep_defaults_allowed(result: &mut ClusterTemplate, lineage: &[&ClusterTemplate]) {
    let ClusterTemplate { compatibility, defaults, .. } = result;
    let listed = |list: fn(&Compatibility) -> &BTreeSet<String>| {
        lineage.iter().any(|template| !list(&template.compatibility).is_empty())
    };
    if !compatibility.services.is_empty() && !listed(|lists| &lists.services) {
        compatibility.services.extend(defaults.services.iter().cloned());
    }
    if !compatibility.hardwaretypes.is_empty() && !listed(|lists| &lists.hardwaretypes) {
        compatibility.hardwaretypes.extend(stated(&defaults.hardwaretype).map(str::to_owned));
    }
    if !compatibility.imagetypes.is_empty() && !listed(|lists| &lists.imagetypes) {
        compatibility.imagetypes.extend(stated(&defaults.imagetype).map(str::to_owned));
    }
}

fn check(template: &ClusterTemplate) -> Result<(), Invalid> {
    template.check()?;
    if template.defaults.services.is_empty() {
        return Err(Invalid::new(
            "defaults.services",
            "",
            "is empty, but default services must be specified",
            "list at least one service, here or in a template or partial it refers to",
        ));
    }
    if stated(&template.defaults.provider).is_none() {
        return Err(Invalid::new(
            "defaults.provider",
            "",
            "is empty, but a default provider must be specified",
            "name one, here or in a template or partial it refers to",
        ));
    }
    stated(&template.defaults.dns_suffix)
        .map_or(Ok(()), |suffix| check_dns_suffix("defaults.dnsSuffix", suffix))
}

#[cfg(test)]
mod tests;
