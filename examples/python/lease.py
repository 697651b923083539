"""A model of PyTorch takes a quarter of the SMs for each request, while PageRank has the rest of the GPU."""
import sys

try:
    import torch
except ImportError:
    torch = None
if torch is None or not torch.cuda.is_available():
    print("skipped: this example needs PyTorch and a GPU")
    sys.exit(77)
import cohort

model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024)).cuda().eval()
request = torch.randn(8, 1024, device="cuda")
stream = torch.cuda.Stream(priority=-1)  # above the priority of jobs
with torch.inference_mode(), torch.cuda.stream(stream):
    expected = model(request)  # libraries load their kernels and allocate while no job runs
stream.synchronize()
sms = torch.cuda.get_device_properties(0).multi_processor_count // 4

with cohort.cuda.Engine() as engine:
    job = cohort.apps.launch(engine, "pagerank", input="rmat:22", settings={"digits": 9})
    for _ in range(100):
        with engine.lease(stream, sms=sms), torch.inference_mode(), torch.cuda.stream(stream):
            answer = model(request)
        stream.synchronize()
    report = job.wait()
assert torch.allclose(answer, expected, atol=1e-4)
print(f"100 requests on {sms} SMs; the job: {report.leaves} groups left, {report.joins} joined")
