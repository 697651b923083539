"""Lemmas about the size of a set of ids, with proofs by induction. The main proof uses them where the protocol counts.

`size` is the number of ids below `bound` in the set, defined by recursion on the bound. Each lemma is proved for sets
of ids below any bound, in two queries: for bound 0, and for bound n + 1 from bound n. The functions that the proof
calls return instances of the lemmas at the given terms. Fresh witnesses replace the quantifiers of the premises.
"""
import itertools

import z3

from logic import both, choose, either, implies, negate, same, within

_fresh = itertools.count()


def witness():
    return z3.Int(f"witness{next(_fresh)}")


class Emptiness:
    """A set is empty if and only if its size is 0."""

    def __init__(self, size, member):
        self.size, self.member, inside = size, member, witness()
        self.witnesses = [inside]
        self.fact = both(size >= 0, implies(size > 0, both(inside >= 0, member(inside))))

    def at(self, term):
        return implies(both(term >= 0, self.member(term)), self.size > 0)


class Fullness:
    """A set of ids from 0 to bound - 1 contains all of them if and only if its size is the bound."""

    def __init__(self, size, member, bound):
        self.size, self.member, self.bound, outside, missing = size, member, bound, witness(), witness()
        self.witnesses = [outside, missing]
        self.fits = both(bound >= 0, negate(both(member(outside), negate(within(0, outside, bound)))))
        self.fact = implies(self.fits, both(size <= bound, implies(
            size < bound, both(within(0, missing, bound), negate(member(missing))))))

    def at(self, term):
        return implies(both(self.fits, self.size == self.bound, within(0, term, self.bound)), self.member(term))


class ChangeAt:
    """Two sets that differ in at most one id."""

    def __init__(self, size, member, size_after, member_after, at):
        other = witness()
        differs = both(other != at, negate(same(member(other), member_after(other))))
        one = lambda truth: choose(truth, z3.IntVal(1), z3.IntVal(0))
        self.witnesses = [other]
        self.fact = either(differs, at < 0, size_after - size == one(member_after(at)) - one(member(at)))


class ChangeBetween:
    """Two sets that agree outside low to high - 1. In that range the larger has all ids and the smaller none."""

    def __init__(self, size, member, larger_size, larger_member, low, high):
        other, inner = witness(), witness()
        differs = both(negate(within(low, other, high)), negate(same(member(other), larger_member(other))))
        mixed = both(within(low, inner, high), either(member(inner), negate(larger_member(inner))))
        self.witnesses = [other, inner]
        self.fact = either(differs, mixed, low < 0, low > high, larger_size - size == high - low)


def lemmas():
    """The lemmas as (name, step of the induction, hypotheses, goal). The hypotheses and the goal's negation are unsatisfiable."""
    n, at, low, high = z3.Ints("n at low high")
    first, second = (z3.Function(name, z3.IntSort(), z3.BoolSort()) for name in ("first", "second"))
    one = lambda truth: z3.If(truth, z3.IntVal(1), z3.IntVal(0))
    j = z3.Int("j")

    def induction(name, hypotheses, claim, members):
        """claim(n, sizes) of sets given by `members`, whose sizes at n are `sizes`."""
        zero = [z3.IntVal(0)] * len(members)
        yield name, "base", hypotheses(z3.IntVal(0)), claim(z3.IntVal(0), zero)
        sizes = [z3.Int(f"size{k}") for k in range(len(members))]
        longer = [size + one(member(n)) for size, member in zip(sizes, members)]
        yield name, "step", [n >= 0, claim(n, sizes)] + hypotheses(n + 1), claim(n + 1, longer)

    nothing = lambda bound: []
    yield from induction("sizes are between 0 and the bound", nothing,
                         lambda n, s: z3.And(0 <= s[0], s[0] <= n), [first])
    below = lambda bound, truth: z3.ForAll([j], z3.Implies(z3.And(0 <= j, j < bound), truth(j)))
    bounded = lambda n, s: z3.And(0 <= s[0], s[0] <= n)
    yield from induction("size 0 just for the empty set", nothing, lambda n, s: z3.And(
        bounded(n, s), (s[0] == 0) == below(n, lambda j: z3.Not(first(j)))), [first])
    yield from induction("size n just for all ids below n", nothing, lambda n, s: z3.And(
        bounded(n, s), (s[0] == n) == below(n, first)), [first])
    yield from induction("ids beyond the set do not count", lambda bound: [
        0 <= low, z3.ForAll([j], z3.Implies(j >= low, z3.Not(first(j))))],
        lambda n, s: s[0] == s[1], [first, lambda j: z3.And(first(j), j < low)])
    agree_but = lambda outside: z3.ForAll([j], z3.Implies(outside(j), first(j) == second(j)))
    yield from induction("sets that differ at one id", lambda bound: [agree_but(lambda j: j != at)],
                         lambda n, s: s[1] - s[0] == z3.If(z3.And(0 <= at, at < n), one(second(at)) - one(first(at)), 0),
                         [first, second])
    yield from induction("sets that differ by an interval", lambda bound: [
        0 <= low, low <= high, agree_but(lambda j: z3.Not(z3.And(low <= j, j < high))),
        z3.ForAll([j], z3.Implies(z3.And(low <= j, j < high), z3.And(z3.Not(first(j)), second(j))))],
        lambda n, s: s[1] - s[0] == z3.If(n <= low, 0, z3.If(n <= high, n - low, high - low)), [first, second])
