//! How many nodes of which type: the question as an integer program.
//!
//! Which services share nodes of a type is decided for each *component*, a group of bundles that rules keep apart from each
//! other, on its own: components do not influence each other on nodes of one type. So kinds of node need not be listed, only
//! the largest sets of bundles of each component that may share a node.

use good_lp::{
    Expression, IntoAffineExpression, ProblemVariables, ResolutionError, Solution, SolutionStatus,
    SolverModel, Variable, WithTimeLimit, constraint, microlp, variable,
};

use super::super::bundle_set::BundleSet;
use super::super::problem::Problem;

/// Sets of bundles that are looked at, of all types together.
const MOST_SETS: usize = 5_000;
/// When the program is given up, in seconds. It is there so that nobody waits for ever: within it the answer never depends on
/// the time.
const LIMIT_S: f64 = 10.0;

/// A hardware type and an image type that go together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Type {
    /// Its place among the problem's hardware types.
    pub hardware: usize,
    /// Its place among the problem's image types.
    pub image: usize,
    /// The bundles that may be on it.
    pub open: BundleSet,
    /// What a machine costs per hour.
    pub price: f64,
}

/// What nodes of one type carry.
#[derive(Debug, Clone)]
pub(super) struct Share {
    /// How many nodes.
    pub nodes: u32,
    /// On how many of them each bundle must be.
    pub needs: Vec<u32>,
    /// On how many of them each bundle is to be at least so that none is empty; no less than what it must be.
    pub room: Vec<u32>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GivenUp;

/// How many nodes of each type carry everything at the least price.
pub(super) fn shares(problem: &Problem, types: &[Type], machines: u32) -> Result<Vec<Share>, GivenUp> {
    let mut model = Model { variables: ProblemVariables::new(), rules: Vec::new() };
    let columns =
        types.iter().map(|one| model.columns(problem, one, machines)).collect::<Result<Vec<_>, _>>()?;
    let all = columns.iter().map(|column| column.nodes.into_expression()).sum::<Expression>();
    model.rules.push(constraint!(all == f64::from(machines)));
    for (bundle, rule) in problem.bundles.iter().enumerate() {
        let sum = |of: fn(&Columns) -> &[Option<Variable>]| {
            columns
                .iter()
                .filter_map(|column| of(column)[bundle])
                .map(IntoAffineExpression::into_expression)
                .sum::<Expression>()
        };
        model.rules.push(constraint!(sum(|column| &column.needs) >= f64::from(rule.min)));
        model.rules.push(constraint!(sum(|column| &column.room) <= f64::from(rule.max.min(machines))));
    }
    let price = types.iter().zip(&columns).map(|(one, column)| one.price * column.nodes).sum::<Expression>();
    let mut program = model.variables.minimise(price).using(microlp);
    for rule in model.rules {
        program.add_constraint(rule);
    }
    let solved = program.with_time_limit(LIMIT_S).solve().map_err(|_: ResolutionError| GivenUp)?;
    if !matches!(solved.status(), SolutionStatus::Optimal) {
        return Err(GivenUp);
    }
    let count = |variable: Variable| whole(solved.value(variable));
    let counts = |variables: &[Option<Variable>]| variables.iter().map(|one| one.map_or(0, count)).collect();
    let share = |column: &Columns| Share {
        nodes: count(column.nodes),
        needs: counts(&column.needs),
        room: counts(&column.room),
    };
    Ok(columns.iter().map(share).collect())
}

/// A solver's number as the whole one it stands for.
fn whole(value: f64) -> u32 {
    // Saturates: what is below zero by rounding is zero.
    value.round() as u32
}

struct Model {
    variables: ProblemVariables,
    rules: Vec<good_lp::Constraint>,
}

/// The variables of one type.
struct Columns {
    nodes: Variable,
    /// Per bundle that may be on it.
    needs: Vec<Option<Variable>>,
    room: Vec<Option<Variable>>,
}

impl Model {
    fn count(&mut self, most: u32) -> Variable {
        self.variables.add(variable().integer().min(0).max(most))
    }

    fn columns(&mut self, problem: &Problem, one: &Type, machines: u32) -> Result<Columns, GivenUp> {
        let nodes = self.count(machines);
        let mut of_bundles = || {
            (0..problem.bundles.len())
                .map(|bundle| {
                    let most = problem.bundles[bundle].max.min(machines);
                    one.open.contains(bundle).then(|| self.count(most))
                })
                .collect::<Vec<_>>()
        };
        let (needs, room) = (of_bundles(), of_bundles());
        for (need, room) in needs.iter().zip(&room) {
            if let (Some(need), Some(room)) = (*need, *room) {
                self.rules.push(constraint!(need <= room));
                self.rules.push(constraint!(room <= nodes));
            }
        }
        if problem.everywhere.is_empty() {
            let filled = room.iter().flatten().map(IntoAffineExpression::into_expression).sum::<Expression>();
            self.rules.push(constraint!(filled >= nodes));
        }
        for component in problem.components_within(one.open) {
            self.component(problem, component, nodes, &needs)?;
        }
        Ok(Columns { nodes, needs, room })
    }

    /// Bundles of a component are on as many nodes as the sets that hold them, and each node shows one set.
    fn component(
        &mut self,
        problem: &Problem,
        component: BundleSet,
        nodes: Variable,
        needs: &[Option<Variable>],
    ) -> Result<(), GivenUp> {
        let sets = problem.largest_sets(component, MOST_SETS).ok_or(GivenUp)?;
        let shown: Vec<Variable> =
            sets.iter().map(|_| self.variables.add(variable().integer().min(0))).collect();
        let all = shown.iter().map(IntoAffineExpression::into_expression).sum::<Expression>();
        self.rules.push(constraint!(all <= nodes));
        for bundle in component.iter() {
            let holding = sets.iter().zip(&shown).filter(|(set, _)| set.contains(bundle));
            let on = holding.map(|(_, one)| one.into_expression()).sum::<Expression>();
            if let Some(need) = needs[bundle] {
                self.rules.push(constraint!(need <= on));
            }
        }
        Ok(())
    }
}
