"""Which build of PyTorch runs with which driver and has code for which chip."""

import re

# The wheels, best first: (CUDA version that the driver must offer, name of the wheel index, the compute capabilities
# that it has code for: from the first on, below the second).
# A driver of the same major version runs every minor version of CUDA, so 12.0 is enough for cu126:
# https://docs.nvidia.com/deploy/cuda-compatibility/ . Blackwell needs a driver for 12.8, the first that knows it.
# Capabilities: PYTORCH_RELEASES_CODE_CC in torch/cuda/__init__.py.
WHEELS = (
    ((13, 0), "cu130", (7, 5), (13, 0)),
    ((12, 0), "cu126", (5, 0), (10, 0)),
    ((12, 8), "cu129", (7, 5), (13, 0)),
)

# The versions of PyTorch that each index is known to have, from the first on, below the second:
# https://github.com/pytorch/pytorch/blob/main/RELEASE.md . cu126 ends with 2.14 (https://dev-discuss.pytorch.org/t/3432).
# cu129 is there for 2.13, for Linux alone, and no longer for 2.14 (https://github.com/pytorch/pytorch/pull/194367).
RELEASES = {"cu130": ((2, 9), (2, 15)), "cu126": ((2, 6), (2, 15)), "cu129": ((2, 13), (2, 14))}
LINUX_ONLY = ("cu129",)

# The first drivers of each major version of CUDA, and of 12.8: https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/
DRIVERS = (((580,), (13, 0)), ((570, 26), (12, 8)), ((525, 60), (12, 0)), ((450, 80), (11, 0)))

# Chips that run no code that was made for a card of the same major capability:
# https://docs.nvidia.com/cuda/cuda-c-programming-guide/#binary-compatibility
TEGRA = ("5.3", "6.2", "7.2", "8.7")

NEWER_DRIVER = "install a newer NVIDIA driver, then run this again"
RIGHT_BUILD = 'This build is the right one for the driver and the card; the chapter "Set up PyTorch" lists other causes.'


def numbers(version: str | None) -> tuple[int, ...] | None:
    """`12.8` as (12, 8)."""
    found = re.match(r"\d+(?:\.\d+)*", version or "")
    return tuple(map(int, found[0].split("."))) if found else None


def cuda_of_driver(driver: str | None) -> tuple[int, int] | None:
    """The CUDA that a driver offers at least, by its version, where its own word for it is not at hand."""
    version = numbers(driver)
    return next((cuda for first, cuda in DRIVERS if version and version >= first), None)


def cure(newest: tuple[int, ...] | None, capability: tuple[int, ...] | None, version: str | None, cuda: str | None) -> str:
    """What to do: the line that installs the build that runs with a driver for CUDA ``newest`` and has code for the card.

    ``version`` and ``cuda`` are of the PyTorch that is installed.
    """
    fits = [wheel for needed, wheel, first, beyond in WHEELS if newest and newest >= needed and (capability is None or first <= capability < beyond)]
    if not fits:
        return NEWER_DRIVER
    if cuda and fits[0] == "cu" + cuda.replace(".", ""):
        return RIGHT_BUILD
    release = (version or "").split("+")[0]
    first, beyond = RELEASES[fits[0]]
    exact = re.fullmatch(r"\d+\.\d+\.\d+", release) and first <= numbers(release) < beyond
    pinned = f"torch=={release}" if exact else "torch"
    line = f"pip install --force-reinstall {pinned} --index-url https://download.pytorch.org/whl/{fits[0]}"
    return f"{NEWER_DRIVER}; on Linux there is also a build for this one: {line}" if fits[0] in LINUX_ONLY else line


def has_code(built_for: list[str], capability: str | None = None, gfx: str | None = None) -> bool | None:
    """Whether a build has code for a chip; ``built_for`` is `torch.cuda.get_arch_list()`. None: not known.

    `sm_86` is machine code: it runs on its own major capability, from its minor on. `sm_90a` runs on 9.0 alone, `sm_100f` on
    its family. `compute_90` is PTX, which the driver translates for every chip from 9.0 on.
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/#binary-compatibility
    """
    if not built_for:
        return None
    if gfx:
        return any(arch.split(":")[0] == gfx or (arch.endswith("-generic") and gfx.startswith(arch.removesuffix("-generic").replace("-", ""))) for arch in built_for)
    chip = numbers(capability)
    if chip is None or len(chip) != 2:
        return None
    for arch in built_for:
        made = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", arch)
        if not made:
            continue
        target = (int(made[2]), int(made[3]))
        if made[4] == "a":
            fits = chip == target
        elif made[1] == "compute" and not made[4]:
            fits = chip >= target
        elif capability in TEGRA:
            fits = chip == target
        else:
            fits = chip[0] == target[0] and chip[1] >= target[1]
        if fits:
            return True
    return False


def cudnn_version(number: int | str | None) -> str | None:
    """`90100` as 9.1.0 and `8902` as 8.9.2: from version 9 on the major number stands four digits up, before it three.

    https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html (cudnnGetVersion)
    """
    if number is None or not re.fullmatch(r"\d{4,6}", str(number)):
        return None
    number = int(number)
    unit = 10000 if number >= 90000 else 1000
    return f"{number // unit}.{number % unit // 100}.{number % 100}"
