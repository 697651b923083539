"""Checks the protocol's steps for any number of groups, by z3.

No query has a quantifier. A universal hypothesis is used at the terms that matter (the acting id, the ids that words
name, the id at which the goal could fail); a universal goal is negated at a fresh id. So each query is in a decidable
theory, linear integers with uninterpreted functions. The answer `unsat` is a proof, whichever terms were chosen.
"""
import z3

import counting
import protocol
from logic import both, either, negate
from protocol import FUNCTIONS, SCALARS, State

SORTS = {int: z3.IntSort(), bool: z3.BoolSort()}


def arbitrary_state():
    scalars = {name: z3.Const(name, SORTS[kind]) for name, kind in SCALARS.items()}
    functions = {name: z3.Function(name, z3.IntSort(), SORTS[kind]) for name, kind in FUNCTIONS.items()}
    return State(**scalars, **functions)


def unique(terms):
    seen = {}
    for term in terms:
        if not z3.is_expr(term):
            term = z3.IntVal(term)
        seen.setdefault(z3.simplify(term).sexpr(), term)
    return list(seen.values())


def as_term(truth):
    return truth if z3.is_expr(truth) else z3.BoolVal(truth)


def solver_for(logic):
    """A solver that gives up after the same amount of work on every machine, which takes seconds on an idle one."""
    solver = z3.SolverFor(logic)
    solver.set("rlimit", 50_000_000)
    return solver


class Query:
    """Hypotheses, and goals by name. The goals are proved if no model of the hypotheses breaks one."""

    def __init__(self):
        self.hypotheses = []
        self.goals = []

    def assume(self, *truths):
        self.hypotheses += [as_term(truth) for truth in truths]

    def goal(self, name, truth):
        self.goals.append((name, as_term(truth)))

    def check(self):
        """None if all goals are proved, else the name of one that is not."""
        solver = solver_for("QF_UFLIA")
        solver.add(*self.hypotheses)
        solver.add(z3.Not(z3.And(*[truth for _, truth in self.goals])))
        result = solver.check()
        if result == z3.unsat:
            return None
        if result == z3.unknown:
            return "no answer: " + solver.reason_unknown()
        model = solver.model()
        return "; ".join(name for name, truth in self.goals if not z3.is_true(model.eval(truth, True)))


class Counts:
    """The sizes of the two sets that a state counts, and the lemmas' facts about them."""

    def __init__(self, state, suffix=""):
        self.state = state
        self.sizes = [z3.Int("arrivals" + suffix), z3.Int("leavers" + suffix)]
        self.sets = [lambda j: protocol.has_arrived(state, j), state.counted]
        self.facts = [counting.Emptiness(size, member) for size, member in zip(self.sizes, self.sets)]

    def fill(self, *bounds):
        """Adds the lemma on when the arrivals are complete."""
        self.facts += [counting.Fullness(self.sizes[0], self.sets[0], bound) for bound in bounds]

    def fill_with(self, arriving):
        """The same lemma after one more arrival."""
        size, member = z3.Int("arrivals_with"), lambda j: either(self.sets[0](j), j == arriving)
        self.facts += [counting.ChangeAt(self.sizes[0], self.sets[0], size, member, arriving),
                       counting.Fullness(size, member, self.state.M)]

    def count_below(self, after, term, at, bounds):
        """The arrivals among the ids below the term, before and after."""
        member = lambda j: both(self.sets[0](j), j < term)
        member_after = lambda j: both(after.sets[0](j), j < term)
        self.facts.append(counting.ChangeAt(BELOW(term), member, BELOW_AFTER(term), member_after, at))
        self.facts.append(counting.ChangeAt(after.sizes[0], after.sets[0], BELOW_AFTER(term), member_after, term))
        self.facts.append(counting.Emptiness(BELOW_AFTER(term), member_after))
        self.facts += [counting.Fullness(BELOW(term), member, bound) for bound in bounds]

    def change(self, after, at, ranges):
        for k in range(2):
            pair = self.sizes[k], self.sets[k], after.sizes[k], after.sets[k]
            self.facts.append(counting.ChangeAt(*pair, at))
        for low, high in ranges:  # only groups with consecutive ids leave
            self.facts.append(counting.ChangeBetween(*pair, low, high))
            self.facts.append(counting.ChangeBetween(*pair[2:], *pair[:2], low, high))

    def witnesses(self):
        return [term for fact in self.facts for term in fact.witnesses]

    def assume(self, query, terms):
        for fact in self.facts:
            query.assume(fact.fact)
            if hasattr(fact, "at"):
                query.assume(*[fact.at(term) for term in terms])


STATE = arbitrary_state()
ONE, TWO = z3.Ints("one_id another_id")
BELOW, BELOW_AFTER = (z3.Function(name, z3.IntSort(), z3.IntSort()) for name in ("below", "below_after"))
OF_EACH = both(*[truth for _, truth in protocol.of_each(STATE, ONE, BELOW)])
OF_PAIRS = both(*[truth for _, truth in protocol.of_pairs(STATE, ONE, TWO)])


def assume_invariant(query, sizes, terms, killers):
    query.assume(negate(STATE.fault), *[truth for _, truth in protocol.numbers(STATE, *sizes)])
    query.assume(*[z3.substitute(OF_EACH, (ONE, term)) for term in terms])
    # The first id of a pair is the killer.
    for killer in killers:
        query.assume(*[z3.substitute(OF_PAIRS, (ONE, killer), (TWO, term)) for term in terms])


def named_ids(state):
    return [state.holder, state.last, state.next_id, z3.IntVal(0)]


def closure(state, terms):
    """The terms, together with the killers that have claimed them."""
    return unique(terms + [state.owner(term) for term in terms])


def step_query(name, bugs=frozenset()):
    """The query whether a step preserves the invariant and satisfies the claims about steps."""
    kind = protocol.STEPS[name]
    query = Query()
    state = STATE
    parameters = {key: z3.Int(key) for key in kind.parameters}
    step = kind.make(state, bugs, **parameters)
    after = state.after(step)
    at, other = z3.Ints("some_id other_id")

    counts, counts_after = Counts(state), Counts(after, "_after")
    counts.fill(state.M, *step.bounds)
    if step.arrives is not None:
        counts.fill_with(step.arrives)
    acting = parameters.get("i", z3.IntVal(0))
    counts.change(counts_after, acting, step.ranges)
    counts.count_below(counts_after, at, acting, [])
    if step.bounds:
        counts.count_below(counts_after, acting, acting, step.bounds)
    terms = [at, other] + list(parameters.values()) + named_ids(state)
    terms = closure(state, unique(terms + counts.witnesses() + counts_after.witnesses()))
    counts.assume(query, terms)
    counts_after.assume(query, terms)
    sizes, sizes_after = counts.sizes, counts_after.sizes
    assume_invariant(query, sizes, terms, [at, other, *parameters.values()])
    query.assume(*step.guards)
    for guard in step.guards_all:
        query.assume(*[guard(term) for term in terms])

    kept = lambda truth: either(after.fault, truth)
    for goal, truth in protocol.numbers(after, *sizes_after):
        query.goal(goal, kept(truth))
    for goal, truth in protocol.of_each(after, at, BELOW_AFTER):
        query.goal(goal, kept(truth))
    for goal, truth in protocol.of_pairs(after, at, other):
        query.goal(goal, kept(truth))
    for goal, truth in protocol.claims_of_steps(state, after, step, name, at):
        query.goal(goal, truth)
    return query


def initial_query():
    query, state = Query(), STATE
    at, other = z3.Ints("some_id other_id")
    counts = Counts(state)
    query.assume(*protocol.initial(state))
    terms = closure(state, unique([at, other] + named_ids(state) + counts.witnesses()))
    counts.assume(query, terms)
    for term in terms:
        query.assume(*protocol.initial_each(state, term))
    for goals in (protocol.numbers(state, *counts.sizes), protocol.of_each(state, at, BELOW),
                  protocol.of_pairs(state, at, other)):
        for goal, truth in goals:
            query.goal(goal, truth)
    return query


def claim_queries():
    """The claims about states, each with its query."""
    state, at = STATE, z3.Int("some_id")
    counts = Counts(state)
    counts.fill(state.M)
    terms = closure(state, unique([at] + named_ids(state) + counts.witnesses()))
    claims = dict(protocol.claims_of_numbers(state, *counts.sizes)) | dict(protocol.claims_of_each(state, at))
    for name, truth in claims.items():
        query = Query()
        counts.assume(query, terms)
        assume_invariant(query, counts.sizes, terms, [at])
        query.goal(name, truth)
        yield name, query
