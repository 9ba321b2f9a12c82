"""The build hook: kernels where there is a compiler, a plain package where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hatch_build
import pytest
from tests.metrics.kernels import ROOT, compiled_library


def hook(root: Path) -> Any:
    return hatch_build.KernelHook(str(root), {}, None, None, "", "wheel", None)  # type: ignore[arg-type]


def build_data() -> dict[str, Any]:
    return {"force_include": {}, "pure_python": True, "tag": None}


def test_a_wheel_carries_the_library_and_says_its_platform() -> None:
    compiled_library()
    data, made = build_data(), hook(ROOT)
    made.initialize("standard", data)
    (source, target), *rest = data["force_include"].items()
    assert not rest and target.startswith("medjury/texts/metrics/_kernels.") and Path(source).is_file()
    assert data["tag"].startswith("py3-none-") and "any" not in data["tag"]
    assert data["pure_python"] is False
    made.finalize("standard", data, "")
    assert not Path(source).exists(), "nothing stays behind"


@pytest.mark.parametrize(
    ("name", "value"), [("CC", "no-such-compiler"), ("CC", "false"), ("MEDJURY_NO_KERNELS", "1")]
)
def test_without_a_compiler_the_wheel_is_plain(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    data, made = build_data(), hook(ROOT)
    made.initialize("standard", data)
    made.finalize("standard", data, "")
    assert data == build_data()
    assert "without compiled kernels" in capsys.readouterr().err


def test_an_editable_install_keeps_the_library_beside_its_source(tmp_path: Path) -> None:
    compiled_library()
    folder = tmp_path / hatch_build.SOURCE.parent
    folder.mkdir(parents=True)
    for source in (hatch_build.SOURCE, hatch_build.INCLUDED):
        (tmp_path / source).write_bytes((ROOT / source).read_bytes())
    data = build_data()
    hook(tmp_path).initialize("editable", data)
    assert sorted(file.suffix for file in folder.iterdir()) == [".c", ".c", ".so"]
    assert data == build_data()
