"""Searches all runs of the protocol's steps for a few groups, breadth first. Uses the same text as the proof.

A run that breaks a claim shows that a planted bug is a bug. Without a bug, the search shows that the invariant is not
too strong and that every step can be taken, so the proof is not empty.
"""
import collections
import itertools

import protocol
from protocol import FUNCTIONS, SCALARS, STEPS, State

NOTHING = {"pc": protocol.X, "at": 0, "view": 0, "top": 0, "seen": 0, "owner": -1, "resting": False, "counted": False}


def as_function(name, values):
    return lambda j: values[j] if 0 <= j < len(values) else NOTHING[name]


def state_of(key):
    scalars, functions = key
    return State(**dict(zip(SCALARS, scalars)),
                 **{name: as_function(name, values) for name, values in zip(FUNCTIONS, functions)})


def key_of(state):
    """A key that distinguishes states. Omits local values that no group will read any more."""
    ids = range(-1, state.N + 1)  # one extra id at each end, so that an id out of range is detected
    values = {name: [getattr(state, name)(j) for j in ids] for name in FUNCTIONS}
    assert values["pc"][0] == protocol.X
    for j in ids:
        if values["pc"][j + 1] not in protocol.KILLING:
            values["top"][j + 1] = values["seen"][j + 1] = 0
        if values["pc"][j + 1] == protocol.X:
            values["at"][j + 1] = values["view"][j + 1] = 0
    scalars = {name: getattr(state, name) for name in SCALARS}
    if not set(values["pc"]) & {protocol.G, protocol.L2, *protocol.FORKING}:
        scalars.update(holder=0, join_gen=0, looked=0, next_id=0)
    if state.pc(state.last) not in (protocol.L, protocol.L2):
        scalars.update(last=0, last_M=0, decided=0)
    return tuple(scalars.values()), tuple(tuple(values[name][1:]) for name in FUNCTIONS)


def first_state(groups, at_first, steady, deadline):
    scalars = {name: kind() for name, kind in SCALARS.items()}
    scalars.update(N=groups, quorum=at_first, steady=steady, deadline=deadline, gather=True)
    return State(**scalars, **{name: as_function(name, ()) for name in FUNCTIONS})


def moves(state, bugs, names):
    """Every step that can be taken, as (name, parameters, step)."""
    ids = range(state.N)
    for name in names:
        kind = STEPS[name]
        others = [key for key in kind.parameters if key != "i"]
        actors = [i for i in ids if not kind.places or state.pc(i) in kind.places] if "i" in kind.parameters else [None]
        for actor in actors:
            for values in itertools.product(*[range(state.N + 1)] * len(others)):
                parameters = dict(zip(others, values)) | ({} if actor is None else {"i": actor})
                step = kind.make(state, bugs, **parameters)
                if all(step.guards) and all(guard(j) for guard in step.guards_all for j in ids):
                    yield name, parameters, step


def sizes(state):
    ids = range(-1, state.N + 1)
    return sum(protocol.has_arrived(state, j) for j in ids), sum(state.counted(j) for j in ids)


def broken_claim(state, claim, invariant):
    """The first claim, or part of the invariant, that the state breaks. With `claim`, checks only this claim."""
    ids = range(-1, state.N + 1)
    counts = sizes(state)
    truths = list(protocol.claims_of_numbers(state, *counts))
    truths += [truth for j in ids for truth in protocol.claims_of_each(state, j)]
    if invariant:
        truths += protocol.numbers(state, *counts)
        below = lambda j: sum(protocol.has_arrived(state, k) for k in ids if k < j)
        truths += [truth for j in ids for truth in protocol.of_each(state, j, below)]
        truths += [truth for i in ids for j in ids for truth in protocol.of_pairs(state, i, j)]
    return next((name for name, truth in truths if name.startswith(claim) and not truth), None)


def broken_by_step(state, after, step, name, claim):
    ids = range(-1, state.N + 1)
    truths = (truth for j in ids for truth in protocol.claims_of_steps(state, after, step, name, j))
    return next((told for told, truth in truths if told.startswith(claim) and not truth), None)


def told(name, parameters):
    return name + "(" + ", ".join(str(parameters[key]) for key in sorted(parameters, key="i".__ne__)) + ")"


Outcome = collections.namedtuple("Outcome", "broken run states taken")


def search(groups, at_first, steady=False, deadline=False, bugs=frozenset(), names=None, generations=2, most=100000,
           claim="", invariant=False):
    """Searches breadth first. The check-in happens once, in a fixed order, unless its steps are among the names."""
    names = [name for name in names or STEPS if name != "raise_fault"]
    state = first_state(groups, at_first, steady, deadline)
    if "take_ticket" not in names:
        for name in ["take_ticket"] * at_first + ["stop_tickets"] * deadline + ["close_check_in"] + ["start"] * at_first:
            state = state_of(key_of(state.after(next(moves(state, bugs, [name]))[2])))
    begin = key_of(state)
    came_from = {begin: None}
    queue = collections.deque([begin])
    taken = collections.Counter()

    def run_to(key, last):
        run = [last]
        while came_from[key] is not None:
            key, move = came_from[key]
            run.append(move)
        return run[::-1]

    while queue and len(came_from) < most:
        key = queue.popleft()
        state = state_of(key)
        for name, parameters, step in moves(state, bugs, names):
            taken[name] += 1
            after = state.after(step)
            broken = broken_by_step(state, after, step, name, claim)
            after_key = key_of(after)
            if after_key not in came_from or broken:
                broken = broken or broken_claim(state_of(after_key), claim, invariant)
                if broken:
                    return Outcome(broken, run_to(key, told(name, parameters)), len(came_from), taken)
                came_from[after_key] = key, told(name, parameters)
                if after.gen <= generations:
                    queue.append(after_key)
    return Outcome(None, [], len(came_from), taken)
