"""Made-up results for tests of the page. They look like the results of a run; every number follows a fixed rule.
   fixture.py FOLDER            as a run would write them
   fixture.py FOLDER --hostile  with markup in every string that the page shows"""
import json
import pathlib
import sys

CLASSES = {"light": (70, 3), "medium": (40, 3), "heavy": (40, 10)}
SHARES = {"one": 1, "quarter": 2, "half": 4, "all-but-one": 7, "all": 8}
PAIRS = ["color ecology1", "mis G3_circuit", "bfs rmat", "bfs USA-road W", "octree particles", "bfs rmat chunked"]
GROUPS = 8
BUSY = "other programs used {} % of the CPUs: these are not a quiet machine's figures"
ABOUT = {"version": "0.0.0", "commit": "fixture", "time": "2000-01-01T00:00:00Z",
         "machine": {"cpu": "a made-up <CPU> & </script>", "cpus": 4, "usable_cpus": 4, "os": "none", "compiler": "none"}}


def samples():
    yield {"experiment": "multitask", **ABOUT, "quick": True, "groups": GROUPS, "load": "fixed work",
           "pairs": [{"name": p} for p in PAIRS], "missing": ["game connect four: not in this fixture"]}
    for work in (3, 10):
        yield {"key": f"calibration | {work}", "calibration": work, "groups": GROUPS, "side": 100 * work}
    for number, pair in enumerate(PAIRS):
        barriers = ["one-pass"] if pair.startswith("octree") else ["plain", "query", "one-pass"]
        for place, barrier in enumerate(barriers):
            about = {"pair": pair, "app": pair.split()[0], "barrier": barrier, "round": 0, "verified": True}
            yield {"key": f"{pair} | {barrier} | alone | 0", **about, "class": None, "job_ns": [300_000_000]}
            for kind, (period, work) in CLASSES.items():
                for share, groups in SHARES.items():
                    if pair.endswith("chunked") and (kind, share) != ("medium", "all-but-one"):
                        continue
                    run = work * GROUPS / groups
                    gather = 0.05 * groups * (3 - place) * (1 + number)
                    every = max(period, run + gather)
                    slowdown = 1 / (1 - 0.9 * groups / GROUPS * run / every)
                    if (pair, share) == ("bfs rmat", "all-but-one"):
                        slowdown *= 6
                    tasks = [[round(i * every * 1e6), round(gather * 1e6), round(run * 1e6)] for i in range(5)]
                    yield {"key": f"{pair} | {barrier} | {kind} | {share} | 0", **about, "class": kind, "share": share,
                           "groups": groups, "side": 100 * work, "wrong": 0, "tasks": tasks,
                           "job_ns": [round(300_000_000 * slowdown)]}


def trace():
    events = [{"name": "thread_name", "ph": "M", "ts": 0, "pid": 1, "tid": lane, "args": {"name": f"unit {lane - 1}"}}
              for lane in range(1, GROUPS + 1)]

    def slice_(name, cat, lane, begin, duration, group):
        events.append({"name": name, "cat": cat, "ph": "X", "ts": begin, "dur": duration, "pid": 1, "tid": lane,
                       "args": {"group": group}})

    def size(at, groups):
        events.append({"name": "groups of bfs", "ph": "C", "ts": at, "pid": 1, "args": {"groups": groups}})

    size(0, GROUPS)
    for period in range(6):
        at = period * 40_000
        for lane in range(1, GROUPS + 1):
            if lane <= GROUPS // 2:
                slice_("bfs", "job", lane, at, 40_000, lane - 1)
            else:
                slice_("heavy task", "task", lane, at + 1_000, 19_000, lane - 1 - GROUPS // 2)
                slice_("bfs", "job", lane, at + 20_200, 19_800, lane - 1)
            for wait in range(8):
                slice_("barrier", "barrier", lane, at + 20_500 + wait * 2_400, 300 + 100 * (lane % 3), -1)
        size(at + 900, GROUPS // 2)
        size(at + 20_200, GROUPS)
        for phase, when in (("b", at), ("e", at + 1_000)):
            events.append({"name": "gather for heavy task", "cat": "gather", "ph": phase, "id": period, "ts": when,
                           "pid": 1, "tid": 0, "args": {"groups": GROUPS // 2}})
    return {"displayTimeUnit": "ms", "otherData": ABOUT, "traceEvents": events}


def barrier():
    def contender(name, p50, reference):
        return {"name": name, "reference": reference, "p50": p50, "p99": 2 * p50, "min": p50 / 2, "max": 3 * p50,
                "spread": 1, "ratio": p50 / 200, "samples": [[p50]]}
    return {"scenario": "barrier", **ABOUT, "warning": BUSY.format(30), "measurements": [
        {"name": "2 threads", "unit": "ns per barrier", "baseline": "openmp", "contenders": [
            contender("cohort resizing", 100, False), contender("openmp", 200, True), contender("std::barrier", 9000, True)]}]}


def on_gpu():
    """Results of another engine in the same folder."""
    def times(p50):
        return {"p50": p50, "p99": 2 * p50, "min": p50 / 2, "max": 3 * p50, "samples": [p50]}
    about = {**ABOUT, "engine": "cuda", "device": {"name": "a made-up GPU", "sms": 100}}
    kernels = ("any order", "resizing barrier", "highest first")
    yield "gather-cuda", {"scenario": "gather", **about, "offer_interval_ns": 10000, "gather": [
        {"sms": sms, "by": "lease", "idle": times(10000),
         **{name: {**times(20000), "extra_p50": 5000 + sms, "extra_p99": 30000} for name in kernels}} for sms in (1, 50)],
        "apps": {app: [{"sms": sms, "extra": times(sms * 1000), "to_resizing_point": times(9000)} for sms in (33, 50)] for app in PAIRS[:3]}}
    yield "lease-cuda", {"scenario": "lease", **about, "products": [
        {"size": 512, "sms": 50, "verified": True, "leaves": 9, "alone": times(30000), "leased": times(50000)}],
        "apps": {"size": 2000, "sms": 99, "period_ns": 1e7, "idle": times(1e6), "beside": [
            {"app": app, "chunked": number == 2, "idle": times(1e6), "leased": times(1.1e6), "p99_over_idle": 1 + number / 20}
            for number, app in enumerate(PAIRS[:3])]}}
    yield "background-cuda", {"scenario": "background", **about, "warning": BUSY.format(40), "too_short": ["a made-up app"],
                              "summary": {"median_over_ideal": 1.005, "max_over_ideal": 1.02, "culprit": "octree"}, "measurements": [
        {"app": app, "class": kind, "share": share, "groups": 50, "slowdown": 1.2 + number / 100, "ideal": 1.19 + number / 100,
         "over_ideal": 1.005 + number / 200, "tasks": 9, "wrong": 0}
        for kind in CLASSES for share in ("quarter", "half") for number, app in enumerate(PAIRS[:3])]}
    ways = {"stream priority": None, "time slicing": (20, 1.4), "green contexts": (10, 1.9), "cohort, lease": (10, 1.2),
            "cohort, resident": (12, 1.2)}
    yield "sharing-cuda", {"scenario": "sharing", **about, **{load: [
        {"class": kind, "sms": 50, "period_ms": 40, "ideal_slowdown": 1.1, "rows": [
            {"way": way, "alone_ns": 1e7, "verified": True, "job_sms": 100, "slowdown": its[1] if its else 1,
             **({"p50_ns": its[0] * 1e6, "p99_ns": its[0] * 1.1e6} if its else {"gave_up": True})}
            for way, its in ways.items()]} for kind in ("heavy", "medium")] for load in ("fixed_work", "fixed_duration")}}
    yield "fairness-cuda", {"scenario": "fairness", **about, "spin_barrier_hangs": True, "seconds_given": 5,
                            "groups": 4096, "rounds": 10000, "cohort_finishes": True, "barriers": 10000, "next_to_held_sms": [
        {"sms_held": 0, "fixed_finishes": True},
        {"sms_held": 1, "fixed_finishes": False, "cohort_finishes": True, "groups": 99, "seconds": 0.02}]}


def sizing():
    return {"scenario": "sizing", **ABOUT, "groups": GROUPS, "width": 160, "height": 90, "rates": [
        {"rate": rate, "largest_t_ns": 1e9 / rate - 4e6, "X_s": 10, "Y_s": 9, "n": 200, "frames": 10 * rate,
         "missed": 0, "right": True, "E_ns": 3.1e6, "P_ns": 1e9 / rate, "frame_p50_ns": 3e6}
        for rate in (30, 60, 144)]}


# Sets `attacked` if the page treats it as markup. The comment would hide the rest of the page, from the end of a script
# element on.
HOSTILE = """<img src=x onerror="attacked=1"></small></script><script>attacked=1</script><!--<script>&amp;'"` """
# Fields whose values are compared by the page or the tool.
KEPT = {"key", "barrier", "class", "share", "ph", "cat", "engine"}


def hostile(value, field=""):
    if isinstance(value, str):
        return value if field in KEPT or value == "thread_name" else HOSTILE + value
    if isinstance(value, list):
        return [hostile(each) for each in value]
    if not isinstance(value, dict):
        return value
    result = {name: hostile(each, name) for name, each in value.items()}
    if "p50" in value:
        result["tip"] = HOSTILE  # the page adds tips to some contenders; this one must be ignored
    if "seconds_given" in value:
        result["seconds_given"] = HOSTILE  # a field that should contain a number
    return result


def main():
    folder = pathlib.Path(sys.argv[1])
    change = hostile if "--hostile" in sys.argv else lambda record: record
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "multitask.jsonl").write_text("".join(json.dumps(change(each)) + "\n" for each in samples()))
    for name, record in (("timeline.trace", trace()), ("barrier", barrier()), ("sizing", sizing()), *on_gpu()):
        (folder / f"{name}.json").write_text(json.dumps(change(record)) + "\n")


main()
