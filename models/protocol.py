"""The roster protocol as a transition system: its state, its steps, its inductive invariant, and the claims.

A step is one atomic operation of include/cohort/protocol/ on shared memory, with the local work up to the next one. N
is any number from 1 to 4096. Ids are integers; per-id state is a function of the id. An id that no group holds is in pc
X. If a group got an id that is still held, it would overwrite the holder's state; the property `joins` says that this
cannot happen. README.md maps steps to functions.
"""
from dataclasses import dataclass, field

import roster_word
from logic import both, choose, either, implies, negate, one_of, same, within

LIMIT = roster_word.constants()["max_groups"]
WRAP = roster_word.constants()["wrap"]

# The state of the group that holds an id.
(X,  # no group holds the id
 T,  # has a ticket, waits for the check-in to close
 TC,  # like T, and closes the check-in
 R,  # runs
 J,  # admitted from the lobby, has not noticed yet
 U,  # M counts it; its box is claimed, but it has no id yet
 # Waits in a barrier; it has arrived (in the roster's generation) or been released (in an earlier
 # one).
 W,
 L,  # has completed the count: decides on M
 L2,  # has decided: is about to release
 G,  # has released: admits the groups that join
 Z,  # has returned
 F1,  # request_fork: has taken the lock
 F2,  # has read the roster
 F3,  # has found departing == 0 after reading the roster
 F4,  # has raised M: admits the new groups
 KC,  # kill: claims the groups that rest below it
 KG,  # has also claimed groups beyond a gap
 KD,  # has given the groups beyond the gap back
 KX,  # has counted the claimed groups in `departing`: is about to swap
 KS,  # has stored `settled` for the barrier that it is about to release
 KB,  # the swap failed: undoes the claims
 B1,  # rests: has set its bit
 B2,  # found its bit cleared: waits for the claiming group's decision
 B3,  # only with the bug rest_unchecked: has seen that its bit is set again
 ) = range(24)
FORKING = (F1, F2, F3, F4)
KILLING = (KC, KG, KD, KX, KS, KB)
COUNTED = (KX, KS)  # states of killers whose claims are counted in `departing`
RESTING = (B1, B2, B3)
# In these states a group acts as a member of the job.
ACTING = (R, J, L, L2, G, Z) + FORKING + KILLING

SCALARS = {  # name of each scalar, and its Python type
    "N": int, "quorum": int, "steady": bool, "deadline": bool,  # constants
    "M": int, "arrived": int, "gen": int, "gather": bool, "drain": bool, "fault": bool,  # the roster
    "tickets": int, "no_more": bool, "departing": int, "settled": int,  # other shared words
    "claimed": int,  # boxes in Seat::claimed
    "locked": bool, "holder": int,  # fork_lock, and (ghost) its holder; steady kernels take it as a ghost
    # Private to the group that holds the lock: the generation for joining groups, the M it has read, the next id to
    # give.
    "join_gen": int, "looked": int, "next_id": int,
    # Private to the group in L or L2 (ghost: its id): M when it completed the count, and the M that it decided on.
    "last": int, "last_M": int, "decided": int,
    "released_M": int,  # ghost: M as of the last release or the check-in
}
FUNCTIONS = {
    "pc": int, "at": int,  # Member::gen of this id
    "view": int,  # Member::active
    "top": int,  # for a killer: it has claimed the ids from this one up to its own
    "seen": int,  # for a killer: `arrived` when it last read the roster; -1 if a group had returned
    "owner": int,  # ghost: the killer that has cleared this id's resting bit and has not decided yet; -1: none
    "resting": bool,  # the bit in `resting`
    "counted": bool,  # ghost: this id is counted in `departing`
}


class State:
    """Scalars as attributes, per-id state as functions of the id."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def after(self, step):
        values = dict(self.__dict__)
        values.update(step.sets)
        return State(**values)


@dataclass
class Step:
    """`guards` and `guards_all` (for each id) enable the step, and `sets` lists its changes. Two hints for the counting lemmas:
    `ranges` are the intervals of ids that it changes, and `bounds` are possible numbers of arrivals."""
    guards: list
    sets: dict
    guards_all: list = field(default_factory=list)
    ranges: list = field(default_factory=list)
    bounds: list = field(default_factory=list)
    arrives: object = None  # the id of the group that arrives in this step


def put(function, at, value):
    """The same function, except for one value."""
    return lambda j: choose(j == at, value, function(j))


def put_range(function, low, high, value):
    return lambda j: choose(within(low, j, high), value, function(j))


# ---- derived values

def biased(s):
    """Roster::biased"""
    return s.arrived > WRAP // 2


def has_arrived(s, j):
    """Whether `arrived` counts the group: it waits at the current generation, or it has returned."""
    return either(both(s.pc(j) == W, s.at(j) == s.gen), one_of(s.pc(j), L, L2, Z))


def word_seen(s):
    """The part of the roster that a killer remembers. M was its id + 1 when it loaded the roster."""
    return choose(s.drain, -1, s.arrived)


def unpassed(s, j):
    """The group has not read M from `settled` yet."""
    return either(s.pc(j) == T, both(negate(s.steady), either(s.pc(j) == G, both(s.pc(j) == W, s.at(j) == s.gen - 1))))


def has_left(s, j):
    """The group has been removed by another group's step, but has not noticed yet. Implies nothing about M."""
    return both(s.counted(j), either(both(s.pc(j) == W, s.at(j) < s.gen),
                                     both(one_of(s.pc(j), *RESTING), s.owner(j) == -1, negate(s.resting(j)))))


# ---- Steps. Each takes the state, parameters (ids, numbers, booleans) and the set of planted bugs.

ID, NUMBER = "id", "number"


@dataclass
class Kind:
    """A kind of step: a function that makes one, the states from which its group takes it, and its parameters."""
    make: object
    places: tuple
    parameters: dict


STEPS = {}
PLANTED = ("see_bit_again", "clear_bit_unchecked")  # only with the bug rest_unchecked


def step(*places, **parameters):
    """Decorator for a step that group `i` takes from one of the states `places`. Without `places`, the step names its group
    itself or has none."""
    def register(function):
        def guarded(s, bugs, **values):
            made = function(s, bugs=bugs, **values)
            if places:
                made.guards.insert(0, one_of(s.pc(values["i"]), *places))
            return made
        parameters_of_all = {"i": ID, **parameters} if places else parameters
        STEPS[function.__name__] = Kind(guarded, places, parameters_of_all)
        return function
    return register


@step(i=ID)
def take_ticket(s, i, bugs):
    """A new Member has generation 0; it does not read the generation from the roster."""
    closes = either(i == choose(s.deadline, 0, s.quorum - 1), both("two_closers" in bugs, i == s.quorum - 1))
    return Step([s.gather, negate(s.no_more), i == s.tickets, i < s.quorum],
                {"pc": put(s.pc, i, choose(closes, TC, T)), "at": put(s.at, i, 0), "tickets": s.tickets + 1})


@step(TC)
def stop_tickets(s, i, bugs):
    return Step([s.deadline, negate(s.no_more)], {"no_more": True})


@step(TC)
def close_check_in(s, i, bugs):
    count = choose(s.tickets < s.quorum, s.tickets, s.quorum)
    full = both("two_closers" in bugs, i == s.quorum - 1)
    return Step([either(s.no_more, negate(s.deadline), full)],
                {"pc": put(s.pc, i, T), "settled": count, "released_M": count, "M": s.M + count, "gather": False})


@step(T)
def start(s, i, bugs):
    return Step([negate(s.gather)],
                {"pc": put(s.pc, i, R), "view": put(s.view, i, s.settled)})


def arrival(s, i, add, guards):
    total = s.arrived + add
    flips = total >= WRAP
    arrived = choose(flips, total - WRAP, total)
    full = arrived == s.M  # also tested after a flip
    return Step([negate(s.drain)] + guards,
                {"pc": put(s.pc, i, choose(full, L, W)), "gen": choose(flips, s.gen + 1, s.gen),
                 "arrived": arrived, "released_M": choose(flips, s.M, s.released_M),
                 "last": choose(full, i, s.last), "last_M": choose(full, s.M, s.last_M)}, arrives=i)


@step(R)
def arrive(s, i, bugs):
    return arrival(s, i, 1, [])


@step(R)
def arrive_to_flip(s, i, bugs):
    members = s.N if "bias_of_max_groups" in bugs else s.view(i)
    return arrival(s, i, 1 + WRAP - members, [s.steady, i == 0])


@step(R)
def arrive_with_veto(s, i, bugs):
    checks = [] if "veto_without_bias" in bugs else [biased(s)]
    return arrival(s, i, 1 - (WRAP - s.view(i)), [s.steady, i != 0] + checks)


@step()
def look_again(s, bugs):
    """Group 0 does not compare generations: the word is not biased again before its next arrival."""
    return Step([s.steady, s.pc(0) == W, biased(s)],
                {"arrived": s.arrived - (WRAP - s.view(0))})


@step(L, to=NUMBER, settles=NUMBER)
def decide_to_keep_or_shrink(s, i, to, settles, bugs):
    """In kernels whose M is steady, release() stores `settled` and resize() does not."""
    going = put_range(s.counted, to, s.last_M, True)
    return Step([0 <= to, to <= s.last_M, either(settles == to, both(s.steady, settles == s.settled))],
                {"pc": put(s.pc, i, L2), "decided": to, "departing": s.departing + s.last_M - to, "counted": going,
                 "settled": settles}, ranges=[(to, s.last_M)])


@step(L, by=NUMBER)
def decide_to_grow(s, i, by, bugs):
    checks = [] if "barrier_grows_over_departing" in bugs else [s.departing == 0]
    to = s.last_M + by
    return Step([1 <= by, to <= s.N] + checks,
                {"pc": put(s.pc, i, L2), "decided": to, "claimed": s.claimed + by, "locked": True, "holder": i,
                 "settled": choose(s.steady, s.settled, to)})


@step(L2)
def release(s, i, bugs):
    """Adds the difference between the released and the full roster, in one addition."""
    to = s.M + s.decided - s.last_M
    grows = s.decided > s.last_M
    early = "unlock_before_admission" in bugs
    joiners = put_range(s.pc, s.M, to, U)
    return Step([],
                {"pc": put(joiners, i, choose(grows, G, W)), "gen": s.gen + 1, "arrived": s.arrived - s.last_M, "M": to,
                 "released_M": to, "next_id": choose(grows, s.M, s.next_id),
                 "join_gen": choose(grows, s.gen + 1, s.join_gen), "locked": False if early else s.locked})


@step(F4, G)
def admit_one(s, i, bugs):
    box = s.next_id
    return Step([s.claimed > 0],
                {"pc": put(s.pc, box, J), "at": put(s.at, box, s.join_gen), "next_id": box + 1,
                 "claimed": s.claimed - 1})


@step(F4, G)
def end_admission(s, i, bugs):
    return Step([s.claimed == 0],
                {"pc": put(s.pc, i, choose(s.pc(i) == F4, R, W)), "locked": False})


@step(J)
def join(s, i, bugs):
    return Step([], {"pc": put(s.pc, i, R), "view": put(s.view, i, s.M)})


@step(W)
def pass_barrier(s, i, bugs):
    return Step([s.at(i) != s.gen, i < s.M],
                {"pc": put(s.pc, i, R), "at": put(s.at, i, s.at(i) + 1),
                 "view": put(s.view, i, choose(s.steady, s.M, s.settled))})


@step(W)
def shed(s, i, bugs):
    return Step([s.at(i) != s.gen, i >= s.M],
                {"pc": put(s.pc, i, X), "counted": put(s.counted, i, False), "departing": s.departing - 1})


@step(R)
def begin_kill(s, i, bugs):
    return Step([negate(s.steady), either(s.M == i + 1, "kill_out_of_turn" in bugs)],
                {"pc": put(s.pc, i, KC), "top": put(s.top, i, i), "seen": put(s.seen, i, word_seen(s))})


@step(KC, low=NUMBER, run=NUMBER)
def claim_resting(s, i, low, run, bugs):
    """fetch_and of the ids from `low` up to what is claimed already, all in one word; `run` is where the run of resting
    groups ends."""
    top = s.top(i)
    gap = run != low
    got = lambda j: both(within(low, j, top), s.resting(j))
    return Step([1 <= low, low < top, low <= run, run <= top,
                 either(negate(gap), negate(s.resting(run - 1)))],
                {"pc": put(s.pc, i, choose(gap, KG, KC)), "top": put(s.top, i, run),
                 "resting": lambda j: both(s.resting(j), negate(within(low, j, top))),
                 "owner": lambda j: choose(got(j), i, s.owner(j))},
                guards_all=[lambda j: implies(within(run, j, top), s.resting(j))])


@step(KG)
def give_back_beyond_gap(s, i, bugs):
    back = lambda j: both(s.owner(j) == i, j < s.top(i))
    if "claim_beyond_gap_kept" in bugs:
        back = lambda j: False
    return Step([],
                {"pc": put(s.pc, i, KD), "resting": lambda j: either(s.resting(j), back(j)),
                 "owner": lambda j: choose(back(j), -1, s.owner(j))})


@step(KC, KD)
def count_departing(s, i, bugs):
    low = i if "claims_not_counted" in bugs else s.top(i)
    return Step([],
                {"pc": put(s.pc, i, KX), "departing": s.departing + i - low,
                 "counted": put_range(s.counted, low, i, True)}, ranges=[(low, i)])


def completes(s, i):
    """According to the roster it has loaded, which may be old, the killer is the last group that a barrier waits for.
    Also true of a job's last group, which ends a generation in which no group waits."""
    return s.seen(i) == s.top(i)


@step(KX)
def settle_for_kill(s, i, bugs):
    return Step([completes(s, i)], {"pc": put(s.pc, i, KS), "settled": s.top(i)}, bounds=[s.top(i)])


@step(KX, KS)
def kill(s, i, bugs):
    """The swap succeeds: the roster is as the killer saw it."""
    to = s.top(i)
    releases = s.pc(i) == KS
    forgets = "kill_does_not_release" in bugs
    turn = [] if "kill_out_of_turn" in bugs else [s.M == i + 1]
    claims = put_range(s.owner, to, i, -1)
    return Step([either(releases, negate(completes(s, i)), forgets), s.seen(i) == word_seen(s),
                 either(negate(s.drain), to == i)] + turn,
                {"pc": put(s.pc, i, X), "owner": claims, "M": to,
                 "gen": choose(releases, s.gen + 1, s.gen), "arrived": choose(releases, s.arrived - to, s.arrived),
                 "released_M": choose(releases, to, s.released_M)}, bounds=[to])


@step(KX, KS)
def retry_kill(s, i, bugs):
    return Step([s.M == i + 1, negate(s.drain)], {"pc": put(s.pc, i, KX), "seen": put(s.seen, i, word_seen(s))})


@step(KX, KS)
def fail_kill(s, i, bugs):
    """The swap failed. A killer that has claimed no group may stay although its turn has not passed: it looks at the
    target again."""
    to = s.top(i)
    return Step([either(s.M != i + 1, s.drain, to == i)],
                {"pc": put(s.pc, i, R if "claims_lost_with_the_swap" in bugs else KB), "departing": s.departing - (i - to),
                 "counted": put_range(s.counted, to, i, False)}, ranges=[(to, i)], bounds=[to])


@step(KB, b=ID)
def let_rest(s, i, b, bugs):
    return Step([s.owner(b) == i],
                {"resting": put(s.resting, b, True), "owner": put(s.owner, b, -1)})


@step(KB)
def end_failed_kill(s, i, bugs):
    return Step([], {"pc": put(s.pc, i, R)},
                guards_all=[lambda j: implies(within(s.top(i), j, i), s.owner(j) != i)])


@step(R)
def rest(s, i, bugs):
    return Step([negate(s.steady)], {"pc": put(s.pc, i, B1), "resting": put(s.resting, i, True)})


@step(B1, B2)
def wake(s, i, bugs):
    """The checked fetch_and of rest(): the bit was still set, so no killer has claimed this group."""
    checked = s.pc(i) == B1 if "rest_unchecked" in bugs else True
    return Step([checked, s.resting(i)], {"pc": put(s.pc, i, R), "resting": put(s.resting, i, False)})


@step(B1)
def find_claimed(s, i, bugs):
    return Step([negate(s.resting(i))], {"pc": put(s.pc, i, B2)})


@step(B2)
def see_bit_again(s, i, bugs):
    """A step that exists only with the planted bug rest_unchecked."""
    return Step(["rest_unchecked" in bugs, s.resting(i)], {"pc": put(s.pc, i, B3)})


@step(B3)
def clear_bit_unchecked(s, i, bugs):
    """With the planted bug rest_unchecked only: the fetch_and whose result is ignored."""
    return Step(["rest_unchecked" in bugs], {"pc": put(s.pc, i, R), "resting": put(s.resting, i, False)})


@step(B2)
def taken_along(s, i, bugs):
    return Step([s.M <= i],
                {"pc": put(s.pc, i, X), "counted": put(s.counted, i, False), "departing": s.departing - 1})


@step(R)
def lock_fork(s, i, bugs):
    return Step([negate(s.steady), negate(s.locked)],
                {"pc": put(s.pc, i, F1), "locked": True, "holder": i, "join_gen": s.gen})


@step(F1, F2, F3)
def look_for_fork(s, i, bugs):
    trusts = s.pc(i) == F3 if "fork_retries_without_check" in bugs else False
    return Step([], {"pc": put(s.pc, i, choose(trusts, F3, F2)), "looked": s.M})


@step(F2)
def check_departing(s, i, bugs):
    checks = [] if "fork_grows_over_departing" in bugs else [s.departing == 0]
    return Step([] + checks, {"pc": put(s.pc, i, F3)})


@step(F3, by=NUMBER)
def claim_boxes(s, i, by, bugs):
    return Step([1 <= by, by <= s.N, s.claimed == 0],
                {"pc": put(s.pc, i, F2), "claimed": s.claimed + by})


@step(F3)
def fork(s, i, bugs):
    to = s.M + s.claimed
    checks = [] if "fork_after_return" in bugs else [negate(s.drain)]
    joiners = put_range(s.pc, s.M, to, U)
    return Step([s.claimed > 0, s.M == s.looked, to <= s.N] + checks,
                {"pc": put(joiners, i, F4), "M": to, "next_id": s.M})


@step(F1, F2, F3)
def give_up_fork(s, i, bugs):
    return Step([], {"pc": put(s.pc, i, R), "claimed": 0, "locked": False})


@step(R)
def return_first(s, i, bugs):
    checks = [] if "return_under_a_barrier" in bugs else [s.arrived == 0]
    return Step([negate(s.drain)] + checks,
                {"pc": put(s.pc, i, Z), "drain": "first_return_without_drain" not in bugs, "arrived": s.arrived + 1})


@step(R)
def return_later(s, i, bugs):
    return Step([s.drain], {"pc": put(s.pc, i, Z), "arrived": s.arrived + 1})


@step()
def raise_fault(s, bugs):
    """FAULT, from any source: the host, an exception, or a broken contract. Nothing is claimed about later states."""
    return Step([], {"fault": True})


# ---- The invariant. `arrivals` and `leavers` are the sizes of the sets has_arrived and counted.

def numbers(s, arrivals, leavers):
    """Properties of the scalars, by name."""
    pc, last, holder = s.pc, s.last, s.holder
    completing = one_of(pc(last), L, L2)
    yield "ranges", both(1 <= s.N, s.N <= LIMIT, 1 <= s.quorum, s.quorum <= s.N, 0 <= s.M, s.M <= s.N, 0 <= s.arrived,
                         s.arrived < WRAP, 0 <= s.departing, 0 <= s.claimed)
    yield "check-in", implies(s.gather, both(
        s.gen == 0, s.M == 0, s.arrived == 0, s.departing == 0, negate(s.drain), negate(s.locked), 0 <= s.tickets,
        s.tickets <= s.quorum, implies(s.no_more, both(s.deadline, s.tickets > 0))))
    yield "arrivals counted", s.arrived == arrivals + choose(biased(s), WRAP - s.M, 0)
    yield "bias", implies(biased(s), both(s.steady, negate(s.drain), pc(0) == W, has_arrived(s, 0), arrivals < s.M))
    yield "full generation ends", implies(both(s.M > 0, arrivals == s.M, negate(s.drain)), completing)
    yield "completing", implies(completing, both(
        0 <= last, last < s.M, arrivals == s.M, negate(s.drain), negate(s.gather), s.last_M == s.M,
        implies(pc(last) == L, negate(s.locked))))
    yield "decided", implies(pc(last) == L2, both(
        0 <= s.decided, s.decided <= s.N, same(s.locked, s.decided > s.M),
        implies(s.locked, both(holder == last, s.claimed == s.decided - s.M)), either(s.steady, s.settled == s.decided)))
    yield "lock", both(
        implies(negate(s.locked), s.claimed == 0),
        implies(s.locked, both(negate(s.gather), 0 <= holder, holder < s.M,
                               either(one_of(pc(holder), G, *FORKING), both(pc(holder) == L2, holder == last)))))
    yield "naming", implies(s.locked, both(
        implies(both(one_of(pc(holder), F4, G), s.claimed > 0), both(s.next_id + s.claimed == s.M, s.next_id >= 0)),
        implies(one_of(pc(holder), G, *FORKING), s.join_gen == s.gen),
        implies(one_of(pc(holder), F2, F3), s.M <= s.looked)))
    yield "departing counted", s.departing == leavers
    yield "steady M", implies(both(s.steady, negate(s.gather)), s.released_M == s.M)


def of_each(s, j, below):
    """Properties of every id, by name. `below(j)` is the number of ids below j that have arrived."""
    pc, at, owner = s.pc(j), s.at(j), s.owner(j)
    active = within(0, j, s.M)
    killer = s.pc(owner)
    shrinking = both(s.pc(s.last) == L2, within(s.decided, j, s.M))
    growing = both(s.pc(s.last) == L2, s.decided > s.M)
    yield "no holder", both(0 <= pc, pc <= B3, implies(negate(within(0, j, s.N)), pc == X),
                            implies(pc == X, both(negate(s.resting(j)), negate(s.counted(j)), owner == -1)))
    closer = choose(s.deadline, 0, s.quorum - 1)
    yield "tickets", choose(s.gather, same(pc, choose(within(0, j, s.tickets), choose(j == closer, TC, T), X)), pc != TC)
    yield "dense", implies(both(negate(s.gather), active), pc != X)
    yield "left", implies(both(negate(s.gather), negate(active)), either(pc == X, both(
        one_of(pc, W, *RESTING), s.counted(j), negate(s.resting(j)), owner == -1, implies(pc == W, at < s.gen))))
    yield "generations", both(
        implies(one_of(pc, T, TC, R, J, L, L2, *FORKING, *KILLING), at == s.gen),
        implies(both(one_of(pc, *RESTING), active), at == s.gen),
        implies(both(pc == W, active), either(at == s.gen, at == s.gen - 1)), implies(pc == G, at == s.gen - 1))
    yield "drain", choose(s.drain, negate(either(both(pc == W, at == s.gen), one_of(pc, L, L2))), pc != Z)
    yield "one completes", implies(one_of(pc, L, L2), j == s.last)
    yield "one admits", implies(one_of(pc, G, *FORKING), both(s.locked, j == s.holder))
    yield "unnamed", same(pc == U, both(
        s.locked, one_of(s.pc(s.holder), F4, G), within(s.next_id, j, s.next_id + s.claimed)))
    yield "free to fork", implies(both(s.locked, s.pc(s.holder) == F3, s.M == s.looked, j >= s.M), pc == X)
    yield "free to grow", implies(both(growing, j >= s.M), pc == X)
    yield "resting", implies(s.resting(j), both(one_of(pc, *RESTING), owner == -1, active))
    yield "claimed", both(owner >= -1, implies(owner >= 0, both(
        one_of(pc, *RESTING), negate(s.resting(j)), 1 <= j, j < owner, owner < s.M, one_of(killer, *KILLING),
        implies(killer != KG, j >= s.top(owner)))))
    yield "claims decided", implies(both(one_of(pc, *RESTING), active, negate(s.resting(j))), owner >= 0)
    yield "killers", implies(one_of(pc, *KILLING), both(
        0 <= s.top(j), s.top(j) <= j, either(s.top(j) == j, 1 <= s.top(j))))
    yield "counted", same(s.counted(j), either(
        both(negate(s.gather), negate(active), pc != X), both(owner >= 0, one_of(killer, *COUNTED)), shrinking))
    yield "looks of killers", implies(one_of(pc, *KILLING), both(s.seen(j) >= -1, s.seen(j) <= below(j)))
    yield "settling", implies(pc == KS, both(completes(s, j), s.settled == s.top(j)))
    yield "no offers", implies(s.steady, negate(one_of(pc, *FORKING, *KILLING, *RESTING)))
    yield "views", implies(both(s.steady, either(one_of(pc, R, L, L2), both(pc == W, at == s.gen))), s.view(j) == s.M)
    yield "settled", implies(both(negate(s.gather), active, unpassed(s, j)), s.settled == s.released_M)


def of_pairs(s, i, j):
    """Properties of every pair of ids, by name."""
    yield "claims", implies(both(one_of(s.pc(i), KC, KG, KD, KX, KS), within(s.top(i), j, i)), s.owner(j) == i)
    yield "passed", implies(both(one_of(s.pc(i), *KILLING), i < j, j < s.M), negate(unpassed(s, j)))
    yield "all wait for the killer", implies(both(s.pc(i) == KS, within(0, j, s.top(i))), has_arrived(s, j))


def initial(s):
    """The state before the first group."""
    return [s.gather, s.gen == 0, s.M == 0, s.arrived == 0, negate(s.drain), negate(s.fault), s.tickets == 0,
            negate(s.no_more), s.departing == 0, s.claimed == 0, negate(s.locked), 1 <= s.N, s.N <= LIMIT,
            1 <= s.quorum, s.quorum <= s.N]


def initial_each(s, j):
    return [s.pc(j) == X, negate(s.resting(j)), negate(s.counted(j)), s.owner(j) == -1]


# ---- Claims about states. They follow from the invariant.

def claims_of_numbers(s, arrivals, leavers):
    yield "no arrival is lost: a full generation has one group that ends it", implies(
        both(s.M > 0, arrivals == s.M, negate(s.drain)), both(one_of(s.pc(s.last), L, L2), 0 <= s.last, s.last < s.M))
    yield "arrived counts the arrivals (under DRAIN the returns), beside the bias", s.arrived == arrivals + choose(
        biased(s), WRAP - s.M, 0)
    yield "no field overflows", both(0 <= s.arrived, s.arrived < WRAP, 0 <= s.M, s.M <= LIMIT,
                                     implies(negate(biased(s)), s.arrived <= s.M), implies(biased(s), s.arrived + s.M >= WRAP))


def claims_of_each(s, j):
    pc = s.pc(j)
    yield "ids are dense: the groups inside hold exactly 0 to M - 1", implies(
        negate(s.gather), same(within(0, j, s.M), both(pc != X, negate(has_left(s, j)))))
    yield "no group acts that M does not count", implies(one_of(pc, *ACTING), within(0, j, s.M))
    yield "a claimed group is taken along, or its claimer is about to decide", implies(
        both(one_of(pc, *RESTING), negate(s.resting(j))),
        either(j >= s.M, both(s.owner(j) > j, s.owner(j) < s.M, one_of(s.pc(s.owner(j)), *KILLING))))
    yield "departing == 0: no group has yet to notice its leave", implies(s.departing == 0, negate(has_left(s, j)))
    yield "a waiter is at most one generation behind until it leaves", implies(
        both(pc == W, within(0, j, s.M)), either(s.at(j) == s.gen, s.at(j) + 1 == s.gen))
    yield "finished: every active group has returned", implies(
        both(s.drain, s.arrived == s.M, within(0, j, s.M)), pc == Z)
    yield "only DRAIN counts returns", implies(pc == Z, s.drain)
    yield "the lock is free when a barrier wants to grow", implies(pc == L, negate(s.locked))


# ---- Claims about steps from a state that satisfies the invariant.

def claims_of_steps(s, after, step, name, j):
    grows = after.M > s.M
    yield "joins: every id given is free, and no group has yet to notice its leave above M", implies(
        both(grows, negate(s.gather), j >= s.M), s.pc(j) == X)
    yield "no group joins after DRAIN", implies(grows, negate(s.drain))
    excused = False if step.arrives is None else j == step.arrives
    yield "a generation ends by one, when every active group has arrived or goes in the same step", implies(
        after.gen != s.gen, both(after.gen == s.gen + 1, implies(within(0, j, s.M), either(
            both(has_arrived(s, j), s.pc(j) != Z), excused, both(j >= after.M, one_of(after.pc(j), X, *RESTING))))))
    yield "what a released waiter, or a group taken along, is about to find stays so", implies(
        both(either(both(s.pc(j) == W, s.at(j) < s.gen), both(one_of(s.pc(j), *RESTING), j >= s.M)),
             after.pc(j) != X, after.pc(j) != R), same(j < s.M, j < after.M))
    yield "DRAIN stays", implies(s.drain, after.drain)
    if name == "pass_barrier":
        yield "groups that pass a barrier see M as of its release", implies(
            both(s.pc(j) == W, after.pc(j) == R), after.view(j) == s.released_M)
    if name == "start":
        yield "the first groups see M as of the check-in's end", implies(
            both(s.pc(j) == T, after.pc(j) == R), after.view(j) == s.released_M)


# ---- Planted bugs. Each lists the steps it changes, a claim that it breaks, and a run that shows it: the number of
# groups and their steps.

@dataclass
class Bug:
    what: str
    changes: tuple
    breaks: str
    stage: dict


BARRIER = ("arrive", "decide_to_keep_or_shrink", "decide_to_grow", "release", "pass_barrier", "shed")
STEADY = ("arrive", "arrive_to_flip", "arrive_with_veto")
KILL = ("begin_kill", "count_departing", "settle_for_kill", "kill", "retry_kill", "fail_kill", "end_failed_kill")
REST = ("claim_resting", "give_back_beyond_gap", "let_rest", "rest", "wake", "find_claimed", "taken_along")
RETURN = ("return_first", "return_later")
FORK = ("lock_fork", "look_for_fork", "check_departing", "claim_boxes", "fork", "admit_one", "end_admission", "join")
CHECK_IN = ("take_ticket", "stop_tickets", "close_check_in", "start")


def stage(groups, at_first, *steps, **options):
    return dict(groups=groups, at_first=at_first, names=sum(steps, ()), **options)


BUGS = {
    "rest_unchecked": Bug(
        "rest() clears its bit without looking whether a killer has claimed it again",
        ("see_bit_again", "clear_bit_unchecked"), "no group acts",
        stage(4, 4, KILL, REST, ("see_bit_again", "clear_bit_unchecked"))),
    "fork_grows_over_departing": Bug(
        "request_fork does not ask for departing == 0", ("check_departing",), "joins", stage(3, 3, BARRIER, FORK)),
    "fork_retries_without_check": Bug(
        "a fork whose swap failed looks at the roster again, but not at departing", ("look_for_fork",), "joins",
        stage(3, 3, KILL, REST, FORK)),
    "barrier_grows_over_departing": Bug(
        "the resizing barrier grows without departing == 0", ("decide_to_grow",), "joins", stage(2, 2, BARRIER)),
    "kill_does_not_release": Bug(
        "a kill that makes the count full does not end the generation", ("kill",), "no arrival is lost",
        stage(2, 2, BARRIER, KILL)),
    "kill_out_of_turn": Bug(
        "a group leaves that does not hold the highest id", ("begin_kill", "kill"), "ids are dense",
        stage(2, 2, KILL)),
    "veto_without_bias": Bug(
        "a veto takes out a bias that is not there", ("arrive_with_veto",), "no field overflows",
        stage(2, 2, STEADY, steady=True)),
    "bias_of_max_groups": Bug(
        "group 0 adds the bias of N instead of M", ("arrive_to_flip",), "no arrival is lost",
        stage(2, 1, STEADY, steady=True)),
    "first_return_without_drain": Bug(
        "the first return sets no DRAIN", ("return_first",), "a generation ends",
        stage(2, 2, BARRIER, RETURN)),
    "return_under_a_barrier": Bug(
        "the first return does not look for groups in a barrier", ("return_first",), "finished",
        stage(2, 2, BARRIER, RETURN)),
    "fork_after_return": Bug(
        "request_fork raises M under DRAIN", ("fork",), "no group joins after DRAIN", stage(3, 2, FORK, ("return_first",))),
    "claim_beyond_gap_kept": Bug(
        "groups claimed beyond a gap are not given back", ("give_back_beyond_gap",), "a claimed group",
        stage(4, 4, KILL, REST)),
    "claims_not_counted": Bug(
        "a kill does not count the groups it removes in departing", ("count_departing",), "joins",
        stage(3, 3, KILL, REST, FORK)),
    "claims_lost_with_the_swap": Bug(
        "a kill whose swap fails does not give its claims back", ("fail_kill",), "a claimed group",
        stage(4, 3, KILL, REST, FORK)),
    "unlock_before_admission": Bug(
        "a growing barrier unlocks before it has admitted", ("release",), "no group acts", stage(3, 1, BARRIER, FORK)),
    "two_closers": Bug(
        "with a deadline the last ticket closes the check-in too", ("take_ticket", "close_check_in"), "ids are dense",
        stage(2, 2, CHECK_IN, deadline=True)),
}
