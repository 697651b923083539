"""Tenants: leases of CPUs from a shared engine, also when waits are interrupted, processes fork, and the interpreter exits."""
import os
import signal
import subprocess
import sys
import threading
import time

import cohort
import numpy
import pytest


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Each test has a rendezvous folder of its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("COHORT_ENGINE", raising=False)


@pytest.fixture
def shared():
    with cohort.cpu.Engine(workers=4, share="night") as engine:
        yield engine


@pytest.fixture
def endless(shared, program):
    """A job that has all workers of the shared engine."""
    job = program.kernel("endless").launch(shared, numpy.zeros(1, numpy.uint32), numpy.zeros(1, numpy.uint32))
    eventually(lambda: job.report().sizes and job.report().sizes[-1][1] == 4)
    return job


def eventually(done):
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_groups_leave_for_a_tenant_and_come_back(endless):
    with cohort.Tenant(name="renderer", weight=2) as tenant:
        assert tenant.wait_connected(60) and tenant.connected and tenant.engine == "night"
        with tenant.lease(units=2) as lease:
            assert lease and lease.units == 2 and lease.cpus
            assert set(lease.cpus) <= set(range(os.cpu_count() or 1024))
            assert endless.report().sizes[-1][1] == 2
            (seen,) = cohort.engine_status("night")["tenants"]
            assert (seen["name"], seen["weight"], seen["granted"]) == ("renderer", 2, 2)
        assert not lease and lease.units == 0 and lease.cpus == []
        eventually(lambda: endless.report().sizes[-1][1] == 4)
        assert "0 units" in repr(lease)


def test_a_dropped_lease_goes_back(shared):
    tenant = cohort.Tenant()
    with pytest.raises(KeyError):
        with tenant.lease(units=3):
            raise KeyError
    lease = tenant.lease(units=4)
    assert lease.units == 4
    del lease
    assert tenant.try_lease(units=4).units == 4
    lease = tenant.lease()
    tenant.close()
    assert lease.units == 0 and not lease
    with pytest.raises(cohort.BadHandle):
        tenant.lease()


def test_a_lease_has_a_time_limit(endless):
    tenant = cohort.Tenant()
    with tenant.lease(units=4) as all_but_one:
        assert all_but_one.units == 3
        outcome = []
        other = threading.Thread(target=lambda: outcome.append(tenant.lease(timeout=0.05)))
        other.start()
        other.join(60)
        assert outcome and not outcome[0]
        assert not tenant.lease(), "this thread holds all that is lent"
    assert tenant.lease(timeout=60)


def test_without_an_engine_leases_are_empty():
    with cohort.Tenant(engine="later") as tenant:
        assert not tenant.lease(units=2) and not tenant.try_lease() and not tenant.connected and tenant.engine == ""
        assert not tenant.wait_connected(0.01)
        assert cohort.shared_engines() == []
        with pytest.raises(cohort.EngineGone, match="no shared engine"):
            cohort.engine_status()
        with cohort.cpu.Engine(workers=2, share="later"):
            assert tenant.wait_connected() and tenant.lease(timeout=60)


def test_wrong_options_are_refused(shared):
    tenant = cohort.Tenant()
    for wrong in [lambda: cohort.Tenant(engine=".x"), lambda: cohort.Tenant(engine="a\0b"), lambda: cohort.Tenant(weight=0),
                  lambda: cohort.Tenant(weight=1001), lambda: cohort.Tenant(priority=101), lambda: tenant.lease(units=0),
                  lambda: tenant.lease(units="2"), lambda: tenant.try_lease(units=10**9), lambda: cohort.cpu.Engine(share="a/b"),
                  lambda: cohort.cpu.Engine(share="night"), lambda: cohort.set_engine_capacity("night", 0),
                  lambda: cohort.set_engine_capacity("night", None), lambda: cohort.set_engine_capacity("night", 10**9)]:
        with pytest.raises(cohort.BadOptions):
            wrong()
    cohort.set_engine_capacity("night", 3)
    assert shared.capacity == 3 and cohort.shared_engines() == ["night"]
    with cohort.cpu.Engine(workers=2, share="day"):
        assert cohort.shared_engines() == ["day", "night"]
        with pytest.raises(cohort.BadOptions, match="several engines"):
            cohort.Tenant()


def test_a_wait_ends_when_the_tenant_is_closed(endless):
    tenant, outcome = cohort.Tenant(), []
    with tenant.lease(units=3):  # all but one
        other = threading.Thread(target=lambda: outcome.append(tenant.lease()))
        other.start()
        eventually(lambda: cohort.engine_status()["tenants"][0]["demand"] == 4)
        tenant.close()
        other.join(60)
    assert outcome and not outcome[0]


def test_interrupts_end_waits(shared):
    cohort.set_engine_capacity("night", 1)
    task_over = threading.Event()
    task = shared.submit(lambda *_: task_over.wait(60))  # so that nothing can be lent
    text = """
import cohort
tenant = cohort.Tenant()
print("waiting", flush=True)
try:
    tenant.lease(units=2)
except KeyboardInterrupt:
    print(cohort.engine_status()["tenants"][0]["demand"])
"""
    child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "waiting\n"
    eventually(lambda: cohort.engine_status()["tenants"][0]["demand"] > 0)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "0\n" and child.returncode == 0
    task_over.set()
    task.wait()


def test_a_child_process_has_no_lease_but_may_have_a_tenant(shared):
    tenant = cohort.Tenant()
    with tenant.lease(units=2) as lease:
        pid = os.fork()
        if pid == 0:
            right = not lease and not tenant.connected and not tenant.lease()
            lease.give_back()
            tenant.close()
            with cohort.Tenant() as own:
                right = right and own.lease(units=9).units == 2
            os._exit(0 if right else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert lease.units == 2


def test_an_engine_that_is_killed_ends_waits():
    text = """
import cohort, sys
engine = cohort.cpu.Engine(workers=2, share="night")
print("shared", flush=True)
sys.stdin.read()
"""
    child = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "shared\n"
    tenant = cohort.Tenant()
    lease = tenant.lease(units=2)
    assert lease.units == 2
    outcome = []
    other = threading.Thread(target=lambda: outcome.append(tenant.lease()))
    other.start()
    child.kill()
    child.wait()
    other.join(60)
    assert outcome and not outcome[0] and not lease
    assert cohort.shared_engines() == []


@pytest.mark.parametrize("text", [
    "lease = tenant.lease(units=2)",
    "hold = tenant.lease(units=2); threading.Thread(target=tenant.lease, daemon=True).start(); time.sleep(0.1)",
    "del engine; lease = tenant.lease()",
    "engine.submit(lambda *_: tenant.lease(units=9)); hold = tenant.lease(units=2)",
    "import os; pid = os.fork(); pid and os.waitpid(pid, 0)",
], ids=["lease", "daemon_waits", "dropped_engine", "task_waits", "fork"])
def test_the_interpreter_exits(run, text):
    done = run("engine = cohort.cpu.Engine(workers=2, share='night')\ntenant = cohort.Tenant()\n" + text + "\nprint('end')")
    assert done.returncode == 0 and done.stdout.startswith("end"), done
    assert "Fatal" not in done.stderr and "terminate" not in done.stderr and "Traceback" not in done.stderr, done
