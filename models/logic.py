"""Connectives that work on Python values and on z3 terms, so that the proof and the search share one text of the protocol."""
import z3


def _symbolic(value):
    return isinstance(value, z3.ExprRef)


def both(*parts):
    """Conjunction."""
    rest = [part for part in parts if _symbolic(part)]
    if any(part is False for part in parts):
        return False
    if not rest:
        return True
    return rest[0] if len(rest) == 1 else z3.And(*rest)


def either(*parts):
    """Disjunction."""
    rest = [part for part in parts if _symbolic(part)]
    if any(part is True for part in parts):
        return True
    if not rest:
        return False
    return rest[0] if len(rest) == 1 else z3.Or(*rest)


def negate(part):
    return z3.Not(part) if _symbolic(part) else not part


def implies(premise, conclusion):
    return either(negate(premise), conclusion)


def same(left, right):
    """Equality, also of truth values."""
    return left == right if _symbolic(left) or not _symbolic(right) else right == left


def choose(condition, then, otherwise):
    if not _symbolic(condition):
        return then if condition else otherwise
    return z3.If(condition, then, otherwise)


def one_of(value, *options):
    return either(*[value == option for option in options])


def within(low, value, high):
    """low <= value < high"""
    return both(low <= value, value < high)
