"""torch.profiler with the CPU and CUDA: the CPU's side is whole; the GPU's is by gtrace's CUPTI, and else absent rather than wrong.

Kernels are machine code of a GPU, so that launches are skipped; what is copied is compared.
"""

import os

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
here = torch.arange(4096, dtype=torch.float32).reshape(64, 64)
there = here.cuda()
torch.cuda.synchronize()
with profile(activities=BOTH, record_shapes=True) as profiled:
    for _ in range(3):
        with record_function("a step"):
            there @ there
            back = there.cpu()
    torch.cuda.synchronize()
rows = {row.key: row for row in profiled.key_averages() if row.device_type == DeviceType.CPU}
for name in ("a step", "aten::mm", "aten::copy_"):
    print(name, rows[name].count, rows[name].cpu_time_total > 0)
done = [one for one in profiled.events() if one.device_type == DeviceType.CUDA and one.name != "a step"]
copies = [one for one in done if one.name.startswith("Memcpy DtoH")]
if "libcupti" in os.environ.get("LD_PRELOAD", ""):
    assert len(copies) == 3 and len(done) - len(copies) == 3, [one.name for one in done]
    assert rows["aten::mm"].device_time_total > 0 and rows["aten::copy_"].device_time_total > 0, rows
else:
    assert not done, done
print("as it went", torch.equal(back, here))
# Another one in the same process, with a schedule.
steps = []
with profile(
    activities=BOTH,
    schedule=torch.profiler.schedule(wait=1, warmup=1, active=2),
    on_trace_ready=lambda of: steps.append(sum(row.count for row in of.key_averages() if row.key == "aten::mm")),
) as profiled:
    for _ in range(4):
        there @ there
        profiled.step()
print("scheduled", steps)
