"""Ask this machine what holds up the training of a tiny network, on its CPU and on its GPU. Takes about a minute.

Paste the whole file into a notebook cell (Colab, Kaggle) or run it with Python. It needs PyTorch 2.7 or newer and
nothing else. It says what it found in words, and writes what it measured into a file in this folder. The file names the
chips and the versions, and nothing that tells whose they are.
"""

import json
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import torch
from torch import nn

SECONDS = 20  # for the measurement; it ends sooner where the answer is clear sooner
QUEUED = 20  # steps that the host queues at a time when its own time is measured: a full queue would make it wait
GRAPH = 20  # steps in a CUDA graph


# The training: the lesson's network and loop, on 120 rows of the iris table.

IRIS = (  # of each species its rows, of each row four lengths in millimeters, two digits each
    "4636100257441504483416024432130252351502503614025241150154391304543715025135140252341402503513035138190448341902"
    "5030160251331705513415024632140255421402543917045033140250321202493115025034150250351606442914024330110146311502"
    "513514034430130246341403473213025138160245231303533715025137150449361401493014025434170258401202",
    "6731441464324515603445166731471555243710663044145729421356304515582741105020351056274213573042126229431360224010"
    "5430451555234013502333105524381167305017593248185125301160275116552540136325491561294714652846157032471459304215"
    "57263510522739146130461466294613552644125630411349243310693149155728411363234413642943136128401358264012",
    "6325501958275119632851156431551872366125763066217728672063274918773867225725502060304818582751196234542364275319"
    "5828512469325723612656147730612360225015723260186334562468305521633360256228481864325323693154216530522073296318"
    "6733572167335725723058166731562474286119632956186530551856284920593051184925451771305921",
)


def iris(device, times=1):
    """Features (rows, 4), scaled to 0..1, and class numbers (rows,); `times` as many rows give the same loss."""
    rows = [[int(digits) for digits in re.findall("..", row)] for species in IRIS for row in re.findall("." * 8, species)]
    X = torch.tensor(rows, dtype=torch.float64)
    lowest, highest = X.min(dim=0).values, X.max(dim=0).values
    X = ((X - lowest) / (highest - lowest)).float()
    y = torch.tensor([number for number, species in enumerate(IRIS) for row in re.findall("." * 8, species)])
    return X.repeat(times, 1).to(device), y.repeat(times).to(device)


class MLP(nn.Module):
    """4 inputs, 10 hidden units, 3 classes: 83 parameters."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 10)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(10, 3)

    def forward(self, x):
        return self.fc2(self.relu(self.fc1(x)))


def new_model(device):
    """Made on the CPU, so that it starts from the same numbers on every device."""
    torch.manual_seed(42)
    return MLP().to(device)


def train(model, X, y, steps, read=True):
    """The lesson's loop. With `read` the host waits for the loss at every step; without, it never does."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for step in range(steps):
        output = model(X)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if read:
            losses.append(loss.item())
    return losses


# Three ways to time it: W, the wall time of a step; H, the host's time to queue it; G, the device's time to do it.


def synchronize(device):
    """Wait until the device has done all that was queued on it."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


class Case:
    """Something to time: `work(n)` does it n times. Its `samples` are seconds for one, a sample each rotation."""

    def __init__(self, work, device=torch.device("cpu"), multiple=1):
        self.work, self.device, self.multiple = work, device, multiple
        self.length = None  # how many make a block
        self.samples, self.failure = [], None
        self.parameters = {}  # what the results file says of it

    def block(self, length):
        """Seconds for one, from an idle device to an idle device."""
        synchronize(self.device)
        start = time.perf_counter()
        self.work(length)
        synchronize(self.device)
        return (time.perf_counter() - start) / length

    def prepare(self, target=0.012):
        """Find how many make a block of about `target` seconds. This is its warm-up, too."""
        length = self.multiple
        while (seconds := min(self.block(length) for attempt in range(3))) * length < target / 4:
            length *= 4
        self.length = self.multiple * max(round(target / seconds / self.multiple), 1)


class HeldCase(Case):
    """The host's time to queue the work while the device is kept busy, or the device's time for it once it is free."""

    def __init__(self, work, device, length, side):
        super().__init__(work, device)
        self.length, self.side = length, side
        self.amount = 1  # of keeping busy
        self.matrix = None if device.type == "cuda" else torch.ones(1024, 1024, device=device)

    def prepare(self):
        for attempt in range(3):
            self.block(self.length)

    def keep_busy(self):
        if self.matrix is None:
            torch.cuda._sleep(1_000_000 * self.amount)  # clock cycles, in which the device does nothing else
        else:
            for product in range(self.amount):
                self.matrix @ self.matrix

    def block(self, length):
        while self.amount < 2000:
            synchronize(self.device)
            self.keep_busy()
            awake = torch.Event(device=self.device)
            awake.record()
            start = time.perf_counter()
            self.work(length)
            queued = time.perf_counter()
            torch.Event(device=self.device).record()  # MPS hands over what was queued only when it has to
            if awake.query():  # it was free before the host was ready
                self.amount *= 2
                continue
            awake.synchronize()
            free = time.perf_counter()
            synchronize(self.device)
            return (queued - start if self.side == "host" else time.perf_counter() - free) / length
        raise RuntimeError("the host takes too long, or waits for the device: it cannot be timed alone")


class WaitCase(Case):
    """What one wait for the device adds: the time of a reading right after the smallest operation."""

    def block(self, length):
        number = torch.zeros(1, device=self.device)
        seconds = 0.0
        for reading in range(length):
            number.add_(0)
            start = time.perf_counter()
            number.item()
            seconds += time.perf_counter() - start
        return seconds / length


def graph_of_steps(device, times):
    """The device's time without the beginning of each launch: steps in a CUDA graph, which the host starts with one call."""
    X, y = iris(device, times)
    model = new_model(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    first = [parameter.detach().clone() for parameter in model.parameters()]

    def step():
        optimizer.zero_grad(set_to_none=True)  # inside the graph as well, or its steps would add up their gradients
        loss = criterion(model(X), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        for warm_up in range(3):
            step()
        optimizer.zero_grad(set_to_none=True)
    torch.cuda.current_stream(device).wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for number in range(GRAPH):
            loss = step()

    with torch.no_grad():
        for parameter, value in zip(model.parameters(), first):
            parameter.copy_(value)  # the warm-up has trained it
    graph.replay()
    expected = train(new_model(device), X, y, GRAPH)[-1]
    if abs(loss.item() - expected) > 1e-3:
        raise RuntimeError(f"void: the graph's loss is {loss.item():.4f}, the loop's {expected:.4f}")

    def work(steps):
        for replay in range(steps // GRAPH):
            graph.replay()

    case = Case(work, device, multiple=GRAPH)
    case.parameters = {"graph": 1}
    case.recorded = step  # it holds the model and the rows: the graph goes on using their memory, which nobody else may get
    return case


def spin(count):
    """Plain Python, the witness of how fast the machine is at the moment."""
    for repetition in range(count):
        total = 0
        for number in range(1000):
            total += number


def device_alone(device, times):
    """The device's time for a step with so many times the rows."""
    if device.type == "cuda":
        return graph_of_steps(device, times)
    case = HeldCase(training(device, read=False, times=times), device, QUEUED, "device")
    case.parameters = {"graph": 0}
    return case


def training(device, read=True, times=1):
    """The work of a case: it trains one model on and on."""
    model, (X, y) = new_model(device), iris(device, times)
    return lambda steps: train(model, X, y, steps, read)


def products(device):
    """The work of a case: the witness of how fast the device is at the moment."""
    matrix = torch.ones(1024, 1024, device=device)

    def work(count):
        for product in range(count):
            matrix @ matrix

    return work


def launches(count):
    """Start the smallest kernel that there is."""
    for launch in range(count):
        torch.cuda._sleep(0)


def cases_for(device):
    """Every case by name: how to make it. The first is what the CPU does; `device` may be None."""
    cpu = torch.device("cpu")
    makers = {
        "cpu": lambda: Case(training(cpu)),
        "cpu again": lambda: Case(training(cpu)),  # A against A: what this machine can tell apart
        "plain Python": lambda: Case(spin),
    }
    if device is not None:
        makers |= {
            "lesson": lambda: Case(training(device), device),
            "lesson again": lambda: Case(training(device), device),
            "never": lambda: Case(training(device, read=False), device),
            "host": lambda: HeldCase(training(device, read=False), device, QUEUED, "host"),
            "device, launched": lambda: HeldCase(training(device, read=False), device, QUEUED, "device"),
            "device, batch 1200": lambda: device_alone(device, times=10),
            "device, batch 12000": lambda: device_alone(device, times=100),
            "synchronize": lambda: WaitCase(None, device),
            "fixed kernel": lambda: Case(products(device), device),
        }
        if device.type == "cuda":
            makers["device"] = lambda: device_alone(device, times=1)
            makers["kernel launch"] = lambda: HeldCase(launches, device, 10 * QUEUED, "host")
    return makers


def measure(device, seconds):
    """Time all cases by turns, block by block, in an order that chance decides. Returns them by name.

    The machine changes its speed all the time. Cases that take turns meet the same machine, so their ratio is right.
    A case that fails keeps its reason, and the others go on.
    """
    began = time.monotonic()
    cases = {}
    for name, make in cases_for(device).items():
        try:
            cases[name] = make()
            cases[name].prepare()
        except Exception as error:
            cases[name] = Case(None)
            cases[name].failure = reason(error)
    if not cases["cpu"].failure:
        cases["cpu again"].length = cases["cpu"].length

    prepared = time.monotonic()
    shuffled = random.Random(0)
    for rotation in range(1, 301):
        for case in shuffled.sample(list(cases.values()), len(cases)):
            if case.failure is None:
                try:
                    case.samples.append(case.block(case.length))
                except Exception as error:
                    case.failure, case.samples = reason(error), []
        now = time.monotonic()
        fewest = 6 if now - began < 2 * seconds else 3  # a machine that is too slow for six would need minutes
        if rotation >= fewest and now - prepared > seconds:
            break
        if rotation >= 40 and rotation % 20 == 0 and known(cases):
            break
    return cases


def reason(error):
    """The first line of what an error says, its type where it says nothing; without the home folder, which names a person."""
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    home = os.path.expanduser("~")
    return line.replace(home, "~") if len(home) > 1 else line


def known(cases, enough=0.02):
    """Is every ratio that is going to be told known to 2 %?"""
    for name, base in (("cpu again", "cpu"), ("lesson", "cpu"), ("lesson again", "lesson")):
        if name in cases and cases[name].samples and cases[base].samples:
            middle, low, high = ratio(cases[name].samples, cases[base].samples)
            if (high - low) / 2 > enough * middle:
                return False
    return True


def launches_per_step(device):
    """How many kernels a step of the loop starts, as the profiler counts them; None where it cannot tell."""
    if device is None or device.type != "cuda":
        return None
    work = training(device, read=False)
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    try:
        with torch.profiler.profile(activities=activities) as profiler:
            work(QUEUED)
            synchronize(device)
    except Exception:
        return None
    counted = sum(event.count for event in profiler.key_averages() if re.match(r"(cu|hip)\w*Launch\w*Kernel", event.key))
    return counted / QUEUED or None


# What the times mean.


def ratio(samples, base):
    """The median of the ratios within each rotation, and its 95 % interval (bootstrap)."""
    each = [a / b for a, b in zip(samples, base)]
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(each, k=len(each))) for attempt in range(1000))
    return statistics.median(each), medians[25], medians[974]


def compare(case, twin):
    """`faster`, `slower`, `same` or `cannot tell`, from the ratio of a case and that of the base to itself."""
    middle, low, high = case
    noise = max(abs(twin[1] - 1), abs(twin[2] - 1))
    if (low > 1 or high < 1) and abs(middle - 1) > max(0.02, noise):
        return "slower" if middle > 1 else "faster"
    if 0.95 <= low and high <= 1.05:
        return "same"
    return "cannot tell"


def bound(cases, launched):
    """What holds the loop up: `host-bound`, `launch-bound`, `latency-bound`, `throughput-bound` or `open`.

    Host and device work at the same time. So a step should take W = max(H, G), and once more a wait where it reads the
    loss; no verdict is given where that is more than 20 % off. `launched`: kernels a step, None where it is not known.
    """
    times = {name: statistics.median(case.samples) for name, case in cases.items() if case.samples}
    if not {"lesson", "never", "host", "device, launched", "synchronize"} <= times.keys():
        return "open"
    longest, wait = max(times["host"], times["device, launched"]), times["synchronize"]
    predicted = {"lesson": longest + wait, "never": longest + wait / cases["never"].length}  # it waits at a block's end
    if wait > longest or any(abs(seconds / times[name] - 1) > 0.2 for name, seconds in predicted.items()):
        return "open"
    middle, low, high = ratio(cases["host"].samples, cases["device, launched"].samples)
    if low > 1:
        return "launch-bound" if launch_share(cases, launched) > 0.5 else "host-bound"
    base = "device" if "device" in times else "device, launched"
    if high < 1 and "device, batch 1200" in times:
        middle, low, high = ratio(cases["device, batch 1200"].samples, cases[base].samples)
        if high <= 1.1:
            return "latency-bound"
        if low > 1.1:
            return "throughput-bound"
    return "open"


def launch_share(cases, launched):
    """The share of H that a step's launches take at least, at the price of one alone; 0 where that is not known."""
    if not launched or "kernel launch" not in cases or not cases["kernel launch"].samples:
        return 0
    middle, low, high = ratio(cases["kernel launch"].samples, cases["host"].samples)
    return launched * low


MEANING = {  # in words, and the chapter of the guide to read
    "host-bound": (
        "The host holds it up. Python and PyTorch take longer to say what is to be done than the GPU takes to do it.",
        "Where the time goes, then Make it faster",
    ),
    "launch-bound": (
        "The host holds it up, and most of its time goes into starting kernels. The GPU waits for them.",
        "Make it faster",
    ),
    "latency-bound": (
        "The GPU holds it up, yet ten times the rows take it no longer: its kernels are small and wait for each other.",
        "Make it faster",
    ),
    "throughput-bound": (
        "The GPU holds it up, and it takes longer for more rows: it is busy calculating, as it should be.",
        "Judge a GPU",
    ),
    "open": (
        "The parts do not add up to the whole, or one of them could not be measured. So this cannot tell.",
        "Where the time goes",
    ),
}


# The machine.


def find_accelerator():
    """The accelerator that PyTorch sees, or None, and the error that it gives, or None where it works."""
    try:
        device = torch.accelerator.current_accelerator(check_available=True)
    except (AttributeError, TypeError):  # 2.5 has no torch.accelerator, and that of 2.6 cannot be asked so
        sys.exit(f"This needs PyTorch 2.7 or newer, and here is {torch.__version__}. Read the chapter Set up PyTorch.")
    if device is None:
        return None, None
    device = torch.device(device.type, 0)
    try:
        works = (torch.ones(1, device=device) + 1).item() == 2
        return device, None if works else "1 + 1 is not 2"
    except Exception as error:
        return device, reason(error)


def introduction(device, error):
    """What is said before the measurement: what will be measured, or why it is the CPU alone."""
    if device is None:
        return why_none()
    name = f"{name_of(device) or 'an accelerator'} ({device})"
    if error is None:
        return f"PyTorch uses {name}."
    said = f"PyTorch sees {name} and cannot use it: {error}"
    if "kernel image" in error:
        said += f"\nThis PyTorch has code for {', '.join(torch.cuda.get_arch_list())}, and none for this chip."
    elif "out of memory" in error:
        said += "\nAnother program, or another notebook, holds its memory: end that first."
    return said + "\nRead the chapter Set up PyTorch. What follows is measured on the CPU alone."


def why_none():
    """Why there is no accelerator, as far as PyTorch knows."""
    version = torch.__version__
    if torch.version.cuda or torch.version.hip or torch.backends.mps.is_built():
        said = f"PyTorch {version} could use an accelerator and finds none on this machine."
    elif shutil.which("nvidia-smi"):
        said = f"This machine has NVIDIA's driver, but PyTorch {version} is a build for the CPU alone."
    else:
        said = f"No accelerator: PyTorch {version} is a build for the CPU alone."
    if "google.colab" in sys.modules:
        said += " In Colab, choose Runtime, Change runtime type, and a GPU."
    if "KAGGLE_KERNEL_RUN_TYPE" in os.environ:
        said += " In Kaggle, choose Settings, Accelerator, and a GPU."
    return said + "\nIf there is a GPU, read the chapter Set up PyTorch."


def properties_of(device):
    """What PyTorch tells of the device; None for `mps`, of which it tells nothing."""
    return torch.get_device_module(device).get_device_properties(device) if device.type in ("cuda", "xpu") else None


def name_of(device):
    return getattr(properties_of(device), "name", None)


def cpu_name():
    """The model of the CPU, as the system tells it."""
    try:
        if platform.system() == "Darwin":
            name = subprocess.run(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True).stdout
        elif platform.system() == "Linux":
            name = re.search(r"^model name\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1]
        else:
            name = platform.processor()
    except (OSError, TypeError):
        name = ""
    return " ".join(re.sub(r"\((R|TM)\)", "", name, flags=re.IGNORECASE).split()) or None


# The results file, in the form in which the guide's own measurements are kept.


def hardware(device, error):
    """The chips, and whether the accelerator works."""
    accelerators = []
    if device is not None:
        told = properties_of(device)
        card = {"device": str(device), "name": name_of(device), "works": error is None}
        if told:
            card["memory_mib"] = told.total_memory // 2**20
        if device.type == "cuda" and not torch.version.hip:
            card["compute_capability"] = f"{told.major}.{told.minor}"
        accelerators.append(card)
    siblings = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/thread_siblings_list")  # the same for one core's threads
    cores = len({file.read_text() for file in siblings}) or None
    cpu = {"model": cpu_name(), "architecture": platform.machine(), "logical": os.cpu_count(), "physical_cores": cores}
    return {
        "cpu": cpu,
        "accelerators": accelerators,
        "pytorch": {"version": str(torch.__version__), "cuda": torch.version.cuda, "hip": torch.version.hip},
    }


def records(cases, device, launched):
    """One record a case. Those of one group were timed in the same rotations."""
    made = []

    def add(experiment, group, name, case, role):
        made.append(
            {
                "experiment": experiment,
                "group": group,
                "case": case,
                "role": role,
                "device": "cpu" if name in ("cpu", "cpu again", "plain Python") else str(device),
                "threads": 1,
                "parameters": cases[name].parameters | ({"block": cases[name].length} if cases[name].length else {}),
                "samples": [float(f"{sample:.5g}") for sample in cases[name].samples],
                "failure": cases[name].failure,
            }
        )

    for name, case, role in (("cpu", "lesson", "base"), ("cpu again", "lesson", "twin"), ("plain Python", "plain Python", "witness")):
        add("training", "step", name, case, role)
    if device is not None:
        add("training", "step", "lesson", "lesson", "case")
        if launched:
            about = {"experiment": "step", "group": f"counts on {device}", "case": "launches", "role": "single", "unit": "count"}
            made.append(about | {"device": str(device), "threads": 1, "samples": [launched]})
        roles = {"lesson": "base", "lesson again": "twin", "plain Python": "witness"}
        for name in cases:
            if name not in ("cpu", "cpu again"):
                add("bound", f"on {device}", name, name.removesuffix(" again"), roles.get(name, "case"))
    return made


def results(cases, device, error, launched):
    """All that the file holds."""
    software = {"python": platform.python_version(), "system": platform.system(), "torch": str(torch.__version__)}
    if torch.version.cuda:
        software["cuda"] = torch.version.cuda
    return {
        "schema_version": 1,
        "kind": "measured",
        "hardware": hardware(device, error),
        "software": software,
        "when": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "profile": "probe",
        "commit": None,
        "records": records(cases, None if error else device, launched),
    }


def write(content):
    """Write the file whole or not at all. Its name is made of those of the chips and the time, so it replaces no other."""
    names = [content["hardware"]["cpu"]["model"] or "unknown-cpu"]
    names += [card["name"] or card["device"] for card in content["hardware"]["accelerators"]]
    words = re.findall(r"[a-z0-9]+", " ".join(["probe", *names, content["when"]]).lower())
    file = Path("-".join(words) + ".json")
    unfinished = file.with_suffix(".part")
    try:
        unfinished.write_text(json.dumps(content, indent=1), encoding="utf-8")
        os.replace(unfinished, file)
    finally:
        unfinished.unlink(missing_ok=True)
    return file


# The report.


def report(cases, launched):
    """Print the times, what they mean, and the chapter to read."""
    times = {name: statistics.median(case.samples) for name, case in cases.items() if case.samples}
    noise = None
    if "cpu" in times and "cpu again" in times:
        noise = ratio(cases["cpu again"].samples, cases["cpu"].samples)
        print(f"The CPU against itself: {noise[0]:.3f} [{noise[1]:.3f}, {noise[2]:.3f}]")
        if max(abs(noise[1] - 1), abs(noise[2] - 1)) > 0.05:
            print("That should be 1. Other programs disturb this machine, so doubt what follows: end them, and measure again.")

    rows = {
        "cpu": "W on the CPU, a step of the lesson's loop",
        "lesson": "W on the GPU, the same",
        "never": "W on the GPU, the loss never read",
        "host": "H, the host's time to queue a step",
        "device, launched": "G, the device's time for a step",
        "device": "G without the beginning of each launch",
        "device, batch 1200": "G with 10 times the rows",
        "device, batch 12000": "G with 100 times the rows",
    }
    for name, row in rows.items():
        if name in times:
            print(f"{row:42} {times[name] * 1e6:8.1f} µs")
        elif name in cases:
            print(f"{row:42} not told: {cases[name].failure}")

    if noise is None:
        return
    print(f"The lesson's 20,000 steps take about {20_000 * times['cpu']:.1f} s on the CPU.")
    if "lesson" not in times:
        print("There is nothing to compare it with.\nRead the chapter Train on the CPU.")
        return
    compared = ratio(cases["lesson"].samples, cases["cpu"].samples)
    print(f"The GPU against the CPU: {compare(compared, noise)}, {compared[0]:.3g} times as long [{compared[1]:.3g}, {compared[2]:.3g}]")
    working = times.get("device", times.get("device, launched"))
    if working:
        print(f"The GPU calculates for {min(working / times['lesson'], 1):.0%} of a step of the lesson.")
    if "never" in times:
        print(f"Reading the loss at every step makes it {times['lesson'] / times['never']:.3g} times as long.")
    verdict = bound(cases, launched)
    words, chapter = MEANING[verdict]
    print(f"Verdict: {verdict}. {words}")
    print(f"Read the chapter {chapter}.")


def main():
    if hasattr(sys.stdout, "reconfigure"):  # a notebook's has none and needs none
        sys.stdout.reconfigure(errors="replace")  # rather a ? than an error where it does not know a character
    device, error = find_accelerator()
    print(introduction(device, error))
    print("Measuring; this takes about a minute ...", flush=True)
    measured = None if error else device
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the network is too small to share out
    try:
        cases = measure(measured, SECONDS if measured else SECONDS / 4)  # less to tell apart
        launched = launches_per_step(measured)  # last, as a profiler may slow down what comes after it
    finally:
        torch.set_num_threads(threads)
    try:
        if not any(case.samples for name, case in cases.items() if name not in ("plain Python", "fixed kernel")):
            sys.exit("Nothing could be timed, so nothing was written.")
        file = write(results(cases, device, error, launched))
    except OSError as refused:
        sys.exit(f"The results could not be written into this folder: {refused.strerror}. Run this where you may write.")
    finally:
        report(cases, launched)  # whatever became of the file, the answer is not lost
    if launched:
        print("To measure again in a notebook, restart it first: the profiler goes on slowing down each launch.")
    print(f"Written: {file}. The guide shows it beside its own, once it lies in results/local.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped.")
