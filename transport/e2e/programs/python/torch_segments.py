"""PyTorch's allocator with expandable segments: memory that is mapped piece by piece, also shared with another process."""

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"

import torch
import torch.multiprocessing as multiprocessing

MIB = 1 << 20


def digits(count, seed):
    return torch.randint(0, 256, (count,), dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


def other(queue, back):
    there = queue.get()
    right = torch.equal(there.cpu(), digits(3 * MIB, 3))
    there.copy_(digits(3 * MIB, 4))
    torch.cuda.synchronize()
    del there
    back.put(right)


def main():
    kept = {}
    for seed, size in enumerate((1, 5, 20, 40, 3), start=10):
        kept[seed] = digits(size * MIB + seed, seed).cuda()
    expandable = {segment["is_expandable"] for segment in torch.cuda.memory_snapshot()}
    print("expandable", expandable)
    del kept[12]
    torch.cuda.empty_cache()
    kept[15] = digits(30 * MIB, 15).cuda()
    print("as they were", all(torch.equal(tensor.cpu(), digits(tensor.numel(), seed)) for seed, tensor in kept.items()))
    print("allocated", torch.cuda.memory_allocated())
    context = multiprocessing.get_context("spawn")
    queue, back = context.Queue(), context.Queue()
    process = context.Process(target=other, args=(queue, back))
    process.start()
    there = digits(3 * MIB, 3).cuda()
    torch.cuda.synchronize()
    queue.put(there)
    print("the other process has it", back.get(timeout=120))
    process.join()
    print("and has changed it", torch.equal(there.cpu(), digits(3 * MIB, 4)), process.exitcode)
    big = torch.empty(200 * MIB, dtype=torch.uint8, device="cuda")
    try:
        torch.empty(1 << 45, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        print("out of memory")
    del big
    kept.clear()
    torch.cuda.empty_cache()
    print("in the end", torch.cuda.memory_allocated())


if __name__ == "__main__":
    main()
