"""A job in another process fills the machine. This process borrows CPUs from it for a moment, and the job continues on the others."""
import os
import subprocess
import sys
import time

import cohort


def run_job(name: str) -> None:
    with cohort.cpu.Engine(pin=True, share=name) as engine:
        job = cohort.apps.launch(engine, "pagerank", input="rmat:16", settings={"digits": 9})
        while not job.report().sizes:
            time.sleep(0.01)
        print("running", flush=True)
        sys.stdin.read()  # until the other process closes it
        report = job.report()
        print(f"the job: {report.leaves} groups left, {report.joins} joined")


def main() -> None:
    name = f"example-{os.getpid()}"
    other = subprocess.Popen([sys.executable, __file__, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "running\n"
    mine = os.sched_getaffinity(0)
    with cohort.Tenant(engine=name, name="example") as tenant:
        with tenant.lease(units=1, timeout=30) as lease:
            if lease:
                os.sched_setaffinity(0, lease.cpus)
            print(f"{lease.units} units on the CPUs {lease.cpus}: {sum(i * i for i in range(100_000))}")
        os.sched_setaffinity(0, mine)
        print("tenants of the engine:", [each["name"] for each in cohort.engine_status(name)["tenants"]])
    print(other.communicate()[0].strip())
    assert other.returncode == 0


if len(sys.argv) > 1:
    run_job(sys.argv[1])
else:
    main()
