"""A small transformer is trained with Adam, all in kernels that Numba compiles to PTX: forward, backward, optimiser.

    numba_training.py [STEPS]

It predicts the next number of sequences in which each follows from the one before. Every sum is taken in a fixed order, so
that the loss of each step, which is printed bit by bit, is the same wherever the kernels run. The first loss and gradients
are compared with NumPy's.
"""

import math
import struct
import sys
import warnings

import ptx_linked  # noqa: F401  before numba
import numpy as np
from numba import cuda, float32

warnings.simplefilter("ignore")

WORDS, LENGTH, BATCH, WIDTH, HEADS, HIDDEN = 11, 12, 4, 16, 2, 32
ROWS, HEAD = BATCH * LENGTH, WIDTH // HEADS
SCALE = float32(1 / math.sqrt(HEAD))
RATE, BETA_1, BETA_2, EPSILON = 0.03, 0.9, 0.95, 1e-8


@cuda.jit
def embed(words, table, places, out):
    at = cuda.grid(1)
    if at < ROWS * WIDTH:
        row, column = at // WIDTH, at % WIDTH
        out[row, column] = table[words[row], column] + places[row % LENGTH, column]


@cuda.jit
def embed_backward(words, d_out, d_table, d_places):
    at = cuda.grid(1)
    column = at % WIDTH
    if at < WORDS * WIDTH:
        total = float32(0)
        for row in range(ROWS):
            if words[row] == at // WIDTH:
                total += d_out[row, column]
        d_table[at // WIDTH, column] = total
    if at < LENGTH * WIDTH:
        total = float32(0)
        for row in range(at // WIDTH, ROWS, LENGTH):
            total += d_out[row, column]
        d_places[at // WIDTH, column] = total


@cuda.jit
def multiply(a, b, out):
    at = cuda.grid(1)
    if at < out.size:
        row, column = at // out.shape[1], at % out.shape[1]
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        out[row, column] = total


@cuda.jit
def multiply_add(a, b, beside, out):
    """A product and what goes past it."""
    at = cuda.grid(1)
    if at < out.size:
        row, column = at // out.shape[1], at % out.shape[1]
        total = beside[row, column]
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        out[row, column] = total


@cuda.jit
def gradient_of_weights(a, d_out, d_b):
    at = cuda.grid(1)
    if at < d_b.size:
        k, column = at // d_b.shape[1], at % d_b.shape[1]
        total = float32(0)
        for row in range(a.shape[0]):
            total += a[row, k] * d_out[row, column]
        d_b[k, column] = total


@cuda.jit
def gradient_of_inputs(d_out, b, d_a):
    at = cuda.grid(1)
    if at < d_a.size:
        row, k = at // d_a.shape[1], at % d_a.shape[1]
        total = float32(0)
        for column in range(b.shape[1]):
            total += d_out[row, column] * b[k, column]
        d_a[row, k] = total


@cuda.jit
def norm(x, gain, out, inverse):
    """Divides each row by the root of its mean square."""
    row = cuda.grid(1)
    if row < ROWS:
        total = float32(0)
        for column in range(WIDTH):
            total += x[row, column] * x[row, column]
        by = float32(1) / math.sqrt(total / float32(WIDTH) + float32(1e-5))
        inverse[row] = by
        for column in range(WIDTH):
            out[row, column] = x[row, column] * by * gain[0, column]


@cuda.jit
def norm_backward(x, gain, inverse, d_out, beside, d_x, d_gain):
    at = cuda.grid(1)
    if at < ROWS:
        by = inverse[at]
        total = float32(0)
        for column in range(WIDTH):
            total += d_out[at, column] * gain[0, column] * x[at, column]
        total = total * by * by * by / float32(WIDTH)
        for column in range(WIDTH):
            d_x[at, column] = d_out[at, column] * gain[0, column] * by - x[at, column] * total + beside[at, column]
    if at < WIDTH:
        total = float32(0)
        for row in range(ROWS):
            total += d_out[row, at] * x[row, at] * inverse[row]
        d_gain[0, at] = total


@cuda.jit
def attend(q, k, v, weights, out):
    """One thread for a head of a row: what it takes of the rows up to its own."""
    at = cuda.grid(1)
    if at < ROWS * HEADS:
        row, first = at // HEADS, at % HEADS * HEAD
        begin, place = row // LENGTH * LENGTH, row % LENGTH
        most = float32(-1e30)
        for other in range(place + 1):
            score = float32(0)
            for column in range(first, first + HEAD):
                score += q[row, column] * k[begin + other, column]
            weights[at, other] = score * SCALE
            most = max(most, score * SCALE)
        total = float32(0)
        for other in range(place + 1):
            weights[at, other] = math.exp(weights[at, other] - most)
            total += weights[at, other]
        for other in range(place + 1):
            weights[at, other] = weights[at, other] / total
        for column in range(first, first + HEAD):
            taken = float32(0)
            for other in range(place + 1):
                taken += weights[at, other] * v[begin + other, column]
            out[row, column] = taken


@cuda.jit
def scores_backward(v, weights, d_out, d_scores):
    at = cuda.grid(1)
    if at < ROWS * HEADS:
        row, first = at // HEADS, at % HEADS * HEAD
        begin, place = row // LENGTH * LENGTH, row % LENGTH
        mean = float32(0)
        for other in range(place + 1):
            d = float32(0)
            for column in range(first, first + HEAD):
                d += d_out[row, column] * v[begin + other, column]
            d_scores[at, other] = d
            mean += d * weights[at, other]
        for other in range(place + 1):
            d_scores[at, other] = (d_scores[at, other] - mean) * weights[at, other] * SCALE


@cuda.jit
def attend_backward(q, k, weights, d_out, d_scores, d_q, d_k, d_v):
    at = cuda.grid(1)
    if at < ROWS * WIDTH:
        row, column = at // WIDTH, at % WIDTH
        head, begin, place = column // HEAD, row // LENGTH * LENGTH, row % LENGTH
        of_q, of_k, of_v = float32(0), float32(0), float32(0)
        for other in range(place + 1):
            of_q += d_scores[row * HEADS + head, other] * k[begin + other, column]
        for later in range(begin + place, begin + LENGTH):
            of_k += d_scores[later * HEADS + head, place] * q[later, column]
            of_v += weights[later * HEADS + head, place] * d_out[later, column]
        d_q[row, column], d_k[row, column], d_v[row, column] = of_q, of_k, of_v


@cuda.jit
def activate(x, out):
    at = cuda.grid(1)
    if at < ROWS * HIDDEN:
        row, column = at // HIDDEN, at % HIDDEN
        out[row, column] = x[row, column] / (float32(1) + math.exp(-x[row, column]))


@cuda.jit
def activate_backward(x, d_out):
    at = cuda.grid(1)
    if at < ROWS * HIDDEN:
        row, column = at // HIDDEN, at % HIDDEN
        by = float32(1) / (float32(1) + math.exp(-x[row, column]))
        d_out[row, column] *= by * (float32(1) + x[row, column] * (float32(1) - by))


@cuda.jit
def compare(logits, targets, losses, d_logits):
    """Cross entropy of each row and its gradient."""
    row = cuda.grid(1)
    if row < ROWS:
        most, total = float32(-1e30), float32(0)
        for word in range(WORDS):
            most = max(most, logits[row, word])
        for word in range(WORDS):
            total += math.exp(logits[row, word] - most)
        losses[row] = math.log(total) + most - logits[row, targets[row]]
        for word in range(WORDS):
            wanted = float32(1) if word == targets[row] else float32(0)
            d_logits[row, word] = (math.exp(logits[row, word] - most) / total - wanted) / float32(ROWS)


@cuda.jit
def mean_of(losses, loss):
    """A block adds up in a tree, whose order is fixed."""
    parts = cuda.shared.array(64, float32)
    at = cuda.threadIdx.x
    parts[at] = losses[at] if at < ROWS else float32(0)
    cuda.syncthreads()
    step = 32
    while step > 0:
        if at < step:
            parts[at] += parts[at + step]
        cuda.syncthreads()
        step //= 2
    if at == 0:
        loss[0] = parts[0] / float32(ROWS)


@cuda.jit
def adam(weights, gradient, mean, square, rate, correction_1, correction_2):
    at = cuda.grid(1)
    if at < weights.size:
        row, column = at // weights.shape[1], at % weights.shape[1]
        d = gradient[row, column]
        m = float32(BETA_1) * mean[row, column] + float32(1 - BETA_1) * d
        s = float32(BETA_2) * square[row, column] + float32(1 - BETA_2) * d * d
        mean[row, column], square[row, column] = m, s
        weights[row, column] -= rate * (m / correction_1) / (math.sqrt(s / correction_2) + float32(EPSILON))


SHAPES = {
    "table": (WORDS, WIDTH), "places": (LENGTH, WIDTH), "gain_1": (1, WIDTH), "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH),
    "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH), "gain_2": (1, WIDTH), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH),
    "gain_3": (1, WIDTH), "head": (WIDTH, WORDS),
}  # fmt: skip


class Model:
    """Parameters, their gradients, and what a step keeps in between, on the device."""

    def __init__(self, start):
        def zeros(*shape):
            return cuda.to_device(np.zeros(shape, np.float32))

        self.weights = {name: cuda.to_device(value) for name, value in start.items()}
        self.gradients, self.means, self.squares = ({name: zeros(*SHAPES[name]) for name in SHAPES} for _ in range(3))
        wide = "x x1 n1 n2 n3 x2 q k v taken d_x d_n d_x1 d_x2 d_q d_k d_v d_taken nothing part".split()
        self.of = {name: zeros(ROWS, WIDTH) for name in wide}
        self.of |= {name: zeros(ROWS) for name in ("i1", "i2", "i3", "losses")}
        self.of |= {name: zeros(ROWS, HIDDEN) for name in ("up", "active", "d_active")}
        self.of |= {name: zeros(ROWS * HEADS, LENGTH) for name in ("attention", "d_scores")}
        self.of |= {"logits": zeros(ROWS, WORDS), "d_logits": zeros(ROWS, WORDS), "loss": zeros(1)}
        self.stream = cuda.stream()

    def run(self, kernel, threads, *arguments):
        kernel[(threads + 63) // 64, 64, self.stream](*arguments)

    def forward(self, words, targets):
        w, of, run = self.weights, self.of, self.run
        run(embed, ROWS * WIDTH, words, w["table"], w["places"], of["x"])
        run(norm, ROWS, of["x"], w["gain_1"], of["n1"], of["i1"])
        for name in "qkv":
            run(multiply, ROWS * WIDTH, of["n1"], w[name], of[name])
        run(attend, ROWS * HEADS, of["q"], of["k"], of["v"], of["attention"], of["taken"])
        run(multiply_add, ROWS * WIDTH, of["taken"], w["o"], of["x"], of["x1"])
        run(norm, ROWS, of["x1"], w["gain_2"], of["n2"], of["i2"])
        run(multiply, ROWS * HIDDEN, of["n2"], w["up"], of["up"])
        run(activate, ROWS * HIDDEN, of["up"], of["active"])
        run(multiply_add, ROWS * WIDTH, of["active"], w["down"], of["x1"], of["x2"])
        run(norm, ROWS, of["x2"], w["gain_3"], of["n3"], of["i3"])
        run(multiply, ROWS * WORDS, of["n3"], w["head"], of["logits"])
        run(compare, ROWS, of["logits"], targets, of["losses"], of["d_logits"])
        run(mean_of, 64, of["losses"], of["loss"])

    def backward(self, words):
        w, g, of, run = self.weights, self.gradients, self.of, self.run
        run(gradient_of_weights, WIDTH * WORDS, of["n3"], of["d_logits"], g["head"])
        run(gradient_of_inputs, ROWS * WIDTH, of["d_logits"], w["head"], of["d_n"])
        run(norm_backward, ROWS, of["x2"], w["gain_3"], of["i3"], of["d_n"], of["nothing"], of["d_x2"], g["gain_3"])
        run(gradient_of_weights, HIDDEN * WIDTH, of["active"], of["d_x2"], g["down"])
        run(gradient_of_inputs, ROWS * HIDDEN, of["d_x2"], w["down"], of["d_active"])
        run(activate_backward, ROWS * HIDDEN, of["up"], of["d_active"])
        run(gradient_of_weights, WIDTH * HIDDEN, of["n2"], of["d_active"], g["up"])
        run(gradient_of_inputs, ROWS * WIDTH, of["d_active"], w["up"], of["d_n"])
        run(norm_backward, ROWS, of["x1"], w["gain_2"], of["i2"], of["d_n"], of["d_x2"], of["d_x1"], g["gain_2"])
        run(gradient_of_weights, WIDTH * WIDTH, of["taken"], of["d_x1"], g["o"])
        run(gradient_of_inputs, ROWS * WIDTH, of["d_x1"], w["o"], of["d_taken"])
        run(scores_backward, ROWS * HEADS, of["v"], of["attention"], of["d_taken"], of["d_scores"])
        d = [of["d_q"], of["d_k"], of["d_v"]]
        run(attend_backward, ROWS * WIDTH, of["q"], of["k"], of["attention"], of["d_taken"], of["d_scores"], *d)
        before = of["nothing"]
        for name, d_name, total in (("q", d[0], of["part"]), ("k", d[1], of["d_x"]), ("v", d[2], of["d_n"])):
            run(gradient_of_weights, WIDTH * WIDTH, of["n1"], d_name, g[name])
            run(accumulate, ROWS * WIDTH, d_name, w[name], before, total)
            before = total
        run(norm_backward, ROWS, of["x"], w["gain_1"], of["i1"], of["d_n"], of["d_x1"], of["d_x"], g["gain_1"])
        run(embed_backward, max(WORDS, LENGTH) * WIDTH, words, of["d_x"], g["table"], g["places"])

    def optimise(self, step):
        corrections = [np.float32(1 - beta**step) for beta in (BETA_1, BETA_2)]
        rate = np.float32(RATE * min(1, step / 5))
        for name, (rows, columns) in SHAPES.items():
            state = [of[name] for of in (self.weights, self.gradients, self.means, self.squares)]
            self.run(adam, rows * columns, *state, rate, *corrections)


@cuda.jit
def accumulate(d_out, b, before, d_a):
    at = cuda.grid(1)
    if at < d_a.size:
        row, k = at // d_a.shape[1], at % d_a.shape[1]
        total = before[row, k]
        for column in range(b.shape[1]):
            total += d_out[row, column] * b[k, column]
        d_a[row, k] = total


def loss_of(weights, words, targets):
    """What NumPy makes of it, in float64."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}

    def normed(x, gain):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * gain

    x = w["table"][words] + np.tile(w["places"], (BATCH, 1))
    n = normed(x, w["gain_1"])
    q, k, v = (np.moveaxis((n @ w[name]).reshape(BATCH, LENGTH, HEADS, HEAD), 1, 2) for name in "qkv")
    scores = q @ np.swapaxes(k, 2, 3) / math.sqrt(HEAD)
    scores = np.exp(np.where(np.tri(LENGTH, dtype=bool), scores, -np.inf))
    taken = scores / scores.sum(-1, keepdims=True) @ v
    x = x + np.moveaxis(taken, 1, 2).reshape(ROWS, WIDTH) @ w["o"]
    up = normed(x, w["gain_2"]) @ w["up"]
    x = x + up / (1 + np.exp(-up)) @ w["down"]
    logits = normed(x, w["gain_3"]) @ w["head"]
    return (np.log(np.exp(logits).sum(-1)) - logits[np.arange(ROWS), targets]).mean()


def batches(random):
    """Sequences and what follows each of their numbers."""
    while True:
        numbers = np.zeros((BATCH, LENGTH + 1), np.int32)
        numbers[:, 0] = random.integers(0, WORDS, BATCH)
        for at in range(1, LENGTH + 1):
            numbers[:, at] = (3 * numbers[:, at - 1] + 5) % WORDS
        yield np.ascontiguousarray(numbers[:, :-1]).ravel(), np.ascontiguousarray(numbers[:, 1:]).ravel()


def main(steps):
    random = np.random.default_rng(3)
    start = {name: random.normal(0, 0.2, shape).astype(np.float32) for name, shape in SHAPES.items()}
    start |= {name: np.ones(SHAPES[name], np.float32) for name in SHAPES if name.startswith("gain")}
    model = Model(start)
    # Page-locked, so that copies are asynchronous.
    here = [cuda.pinned_array(ROWS, np.int32) for _ in range(2)]
    there = [cuda.device_array(ROWS, np.int32) for _ in range(2)]
    losses = []
    for step, batch in zip(range(1, steps + 1), batches(random)):
        for locked, device, numbers in zip(here, there, batch):
            locked[:] = numbers
            device.copy_to_device(locked, stream=model.stream)
        model.forward(*there)
        model.backward(there[0])
        model.optimise(step)
        if step == 1:
            compare_with_numpy(model, start, *batch)
        model.stream.synchronize()
        (loss,) = model.of["loss"].copy_to_host()
        losses.append(loss)
        print("step", step, struct.pack(">f", loss).hex(), flush=True)
    print("falls", bool(np.mean(losses[-5:]) < 0.5 * losses[0]))
    print("loss", losses[0], "to", losses[-1], file=sys.stderr)


def compare_with_numpy(model, start, words, targets):
    model.stream.synchronize()
    (loss,) = model.of["loss"].copy_to_host()
    assert abs(loss - loss_of(start, words, targets)) < 1e-4, (loss, loss_of(start, words, targets))
    for name in SHAPES:
        gradient = model.gradients[name].copy_to_host()
        at = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
        there = {**start, name: start[name].astype(np.float64)}
        values = []
        for change in (1e-5, -1e-5):
            there[name][at] += change
            values.append(loss_of(there, words, targets))
            there[name][at] -= change
        wanted = (values[0] - values[1]) / 2e-5
        assert abs(gradient[at] - wanted) < 1e-3 * abs(wanted) + 1e-5, (name, at, gradient[at], wanted)
    print("as NumPy has it")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
