"""Answers layout questions with CP-SAT of Google's OR-Tools, which knows nothing of how Cooperage looks for layouts.

Reads a list of questions from standard input, and writes for each the least price of exactly so many machines and the fewest
machines that hold everything: null where there is no layout, "unknown" where it was not proven in time.
"""

import json
import sys

from ortools.sat.python import cp_model

SECONDS = 20


def rules(model, question, carries):
    """All rules about nodes whose services are `carries[node][service]`."""
    for number, service in enumerate(question["services"]):
        copies = sum(node[number] for node in carries)
        model.add(copies >= service["min"])
        model.add(copies <= service["max"])
    for node in carries:
        for together in question["mustcoexist"]:
            for one in together[1:]:
                model.add(node[one] == node[together[0]])
        for apart in question["cantcoexist"]:
            model.add_bool_or([~node[one] for one in apart])


def typed(model, question, node):
    """One hardware type that all services of the node accept; which one it is."""
    is_type = [model.new_bool_var("") for _ in question["prices"]]
    model.add_exactly_one(is_type)
    for number, service in enumerate(question["services"]):
        for kind, chosen in enumerate(is_type):
            if kind not in service["hardware"]:
                model.add_implication(node[number], ~chosen)
    return is_type


def solved(model, objective):
    model.minimize(objective)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SECONDS
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    return round(solver.objective_value) if status == cp_model.OPTIMAL else "unknown"


def nodes_of(model, question):
    count = len(question["services"])
    return [[model.new_bool_var("") for _ in range(count)] for _ in range(question["machines"])]


def cheapest(question):
    model = cp_model.CpModel()
    carries = nodes_of(model, question)
    rules(model, question, carries)
    prices = []
    for node in carries:
        model.add_bool_or(node)
        is_type = typed(model, question, node)
        prices.append(sum(price * chosen for price, chosen in zip(question["prices"], is_type)))
    # Nodes are alike: the dearest come first.
    for one, other in zip(prices, prices[1:]):
        model.add(one >= other)
    return solved(model, sum(prices))


def fewest(question):
    model = cp_model.CpModel()
    carries = nodes_of(model, question)
    rules(model, question, carries)
    used = [model.new_bool_var("") for _ in carries]
    for node, is_used in zip(carries, used):
        typed(model, question, node)
        model.add_bool_or([*node, ~is_used])
        for one in node:
            model.add_implication(one, is_used)
    for one, other in zip(used, used[1:]):
        model.add_implication(other, one)
    return solved(model, sum(used))


if __name__ == "__main__":
    answers = [{"cheapest": cheapest(one), "fewest": fewest(one)} for one in json.load(sys.stdin)]
    json.dump(answers, sys.stdout)
