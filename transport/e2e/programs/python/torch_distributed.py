"""torch.distributed over NCCL: two ranks on two devices of one server, in processes and in one process.

NCCL's kernels are machine code of a GPU, so that launches are skipped: communicators are set up with all that they share
(file descriptors, handles of memory, page-locked memory), collectives are given to the device, and everything is taken down.
What is computed is not looked at.

    torch_distributed.py processes|threads
"""

import os
import sys
import tempfile

import torch
import torch.distributed as distributed
import torch.multiprocessing as multiprocessing

RANKS = 2


def rank(number, file, lines):
    torch.cuda.set_device(number)
    distributed.init_process_group("nccl", init_method=f"file://{file}", rank=number, world_size=RANKS)
    ones = torch.ones(100_000, device="cuda")
    parts = [torch.empty_like(ones) for _ in range(RANKS)]
    distributed.all_reduce(ones)
    distributed.broadcast(ones, 0)
    distributed.all_gather(parts, ones)
    distributed.barrier()
    if number == 0:
        distributed.send(ones, 1)
    else:
        distributed.recv(ones, 0)
    # DistributedDataParallel compares what collectives have computed, which is nothing here; this is what it does in a step.
    model = torch.nn.Linear(64, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(8, 64, device="cuda")).sum().backward()
        for parameter in model.parameters():
            distributed.all_reduce(parameter.grad)
        optimizer.step()
    torch.cuda.synchronize()
    lines.put(f"rank {number} of {distributed.get_world_size()} {distributed.get_backend()}")
    distributed.destroy_process_group()


def processes():
    context = multiprocessing.get_context("spawn")
    lines = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "ranks")
        ranks = [context.Process(target=rank, args=(number, file, lines)) for number in range(RANKS)]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
    codes = [process.exitcode for process in ranks]
    if any(codes):
        sys.exit(f"ranks ended with {codes}")
    for line in sorted(lines.get(timeout=10) for _ in ranks):
        print(line)


def threads():
    """One process has a communicator for each device, as DataParallel does."""
    from torch.cuda import nccl

    ones = [torch.ones(100_000, device=f"cuda:{number}") for number in range(RANKS)]
    nccl.all_reduce(ones)
    nccl.broadcast(ones, 0)
    for number in range(RANKS):
        torch.cuda.synchronize(number)
    model = torch.nn.DataParallel(torch.nn.Linear(64, 64).cuda())
    output = model(torch.ones(8, 64, device="cuda"))
    output.sum().backward()
    torch.cuda.synchronize()
    print("NCCL", nccl.version() >= (2, 20), "output", tuple(output.shape), output.device)


if __name__ == "__main__":
    {"processes": processes, "threads": threads}[sys.argv[1]]()
