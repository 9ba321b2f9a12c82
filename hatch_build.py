"""Build hook: compiles the kernels of the text metrics where there is a C compiler.

Without one the package installs all the same, and the metrics are counted in Python: slower, the same values.
`$CC` names another compiler, `$CFLAGS` adds options, MEDJURY_NO_KERNELS=1 leaves the kernels out.

An editable install keeps the library beside its source; a wheel carries it and is marked for its platform (and
for any Python 3: the library does not know Python). `python hatch_build.py` compiles in place.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # compiling in place needs no hatchling
    BuildHookInterface = object  # type: ignore[assignment,misc,unused-ignore]

SOURCE = Path("src/medjury/texts/metrics/_detector.c")
INCLUDED = Path("src/medjury/texts/metrics/_kernels.c")
# No fused multiply-add: the same sums on every processor, and the same as Python's.
OPTIONS = ["-O3", "-std=c11", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off"]


class KernelHook(BuildHookInterface):  # type: ignore[type-arg,misc,unused-ignore]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if self.target_name != "wheel":
            return
        if version == "editable":
            compile_kernels(root, (root / SOURCE).parent)
            return
        self.folder = tempfile.mkdtemp(prefix="medjury-build-")
        library = compile_kernels(root, Path(self.folder))
        if library is not None:
            build_data["force_include"][str(library)] = f"medjury/texts/metrics/{library.name}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform_tag()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)


def compile_kernels(root: Path, folder: Path) -> Path | None:
    """Compile into `folder`; None, with the reason on standard error, where it cannot be done."""
    if os.environ.get("MEDJURY_NO_KERNELS"):
        _without("MEDJURY_NO_KERNELS is set")
        return None
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if os.name != "posix" or not compiler or shutil.which(compiler[0]) is None:
        _without(f"there is no C compiler {compiler[0] if compiler else ''!r}")
        return None
    source = root / SOURCE
    name = f"_kernels.{sysconfig.get_platform()}.so"
    stamp = hashlib.sha256(source.read_bytes() + (root / INCLUDED).read_bytes()).hexdigest()[:16]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / name
        command = [*compiler, *OPTIONS, *shlex.split(os.environ.get("CFLAGS", ""))]
        command += [f'-DMEDJURY_SOURCE="{stamp}"', str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            _without(f"{compiler[0]} failed: {done.stderr.strip()[-500:]}")
            return None
        # A library that a running process has loaded is replaced, never written over.
        return made.replace(folder / name)


def platform_tag() -> str:
    """The platform as wheels name it: linux_x86_64, linux_aarch64, macosx_11_0_arm64."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _without(reason: str) -> None:
    print(f"medjury: text metrics without compiled kernels: {reason}", file=sys.stderr)


if __name__ == "__main__":
    print(compile_kernels(Path(__file__).parent, Path(__file__).parent / SOURCE.parent))
