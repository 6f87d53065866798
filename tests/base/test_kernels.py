"""Compiled functions that are kept on disk."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import uuid
from pathlib import Path

import nutmeg
from nutmeg.base.kernels import _Files

INNER = "from nutmeg.base.kernels import kernel\n\nFACTOR = {}\n\n\n@kernel\ndef add(x):\n    return x + {}\n"
OUTER = """
from inner import FACTOR, add
from nutmeg.base.kernels import kernel


@kernel
def scaled(x):
    return added(x) * FACTOR


@kernel
def added(x):  # below who calls it
    return add(x)


print(scaled(3), sum(scaled.stats.cache_hits.values()))
"""


def test_what_is_called_from_another_file_is_compiled_anew_when_that_file_changes(tmp_path: Path) -> None:
    (tmp_path / "outer.py").write_text(OUTER)

    def found(added: int, factor: int = 10) -> list[int]:
        (tmp_path / "inner.py").write_text(INNER.format(factor, added))
        command = [sys.executable, "-B", "outer.py"]  # Python's own bytecode is kept by size and second
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return [int(word) for word in ran.stdout.split()]

    assert found(1) == [40, 0]
    assert found(1) == [40, 1], "kept"
    assert found(2) == [50, 0], "not kept, as something else is called now"
    assert found(2, factor=3) == [15, 0], "nor when a constant has changed"


def test_code_for_a_type_that_is_gone_is_compiled_anew(tmp_path: Path) -> None:
    types = "from typing import NamedTuple\n\n\nclass {}(NamedTuple):\n    x: float\n"
    program = (
        "from types_of import {0}\nfrom nutmeg.base.kernels import kernel\n\n\n"
        "@kernel\ndef half(a):\n    return a.x / 2\n\n\nprint(half({0}(3.0)))\n"
    )
    for name in ("Pair", "Couple"):
        (tmp_path / "types_of.py").write_text(types.format(name))
        (tmp_path / "outer.py").write_text(program.format(name))
        command = [sys.executable, "-B", "outer.py"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert float(ran.stdout) == 1.5


def test_processes_that_compile_at_the_same_time_do_not_get_each_others_code(tmp_path: Path) -> None:
    one, other = (_Files(str(tmp_path), "kernel", source_stamp=(1.0, 7)) for _ in range(2))
    one.save("of floats", "code for floats")
    found = one._load_index()
    one._save_index({})  # as the other one has found it
    other.save("of integers", "code for integers")
    assert other.load("of integers") == "code for integers"
    one._save_index({**other._load_index(), **found})
    assert [one.load(key) for key in ("of floats", "of integers")] == ["code for floats", "code for integers"]


def test_kernels_have_linear_algebra_although_scipy_linalg_is_loaded_only_by_who_needs_it(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "import numpy as np\n"
        "from nutmeg.base.kernels import kernel\n"
        "@kernel\n"
        "def total(values):\n"
        "    return values.sum()\n"
        "@kernel\n"
        "def solved(matrix, vector):\n"
        "    return np.linalg.solve(matrix, np.dot(matrix, vector))\n"
        "total(np.ones(3))\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "assert np.allclose(solved(np.eye(3) + 1.0, np.ones(3)), 1.0)\n"
        "import scipy.linalg\n"
        "assert np.allclose(scipy.linalg.expm(np.zeros((2, 2))), np.eye(2))\n"
    )
    ended = subprocess.run([sys.executable, "-W", "error", str(program)], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


WORLDS = """
import numpy as np
from nutmeg.base.kernels import for_each_world


@for_each_world
def fall(n, count, heights, speeds):
    heights[n] += {} * speeds[n] * count


heights = np.zeros(3)
fall.run(2, heights, np.array([1.0, 2.0, 4.0]))
print(*heights.tolist(), sum(fall._loop.stats.cache_hits.values()))
"""


def test_a_function_for_one_world_runs_over_all_of_them_and_is_kept_until_it_changes(tmp_path: Path) -> None:
    mark = f"# {uuid.uuid4()}"  # machine code of an earlier run of this test is kept, too

    def found(factor: int) -> list[float]:
        (tmp_path / "worlds.py").write_text(WORLDS.format(factor) + mark)
        command = [sys.executable, "-B", "worlds.py"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return [float(word) for word in ran.stdout.split()]

    assert found(1) == [2.0, 4.0, 0.0, 0]
    assert found(1) == [2.0, 4.0, 0.0, 1], "kept"
    assert found(3) == [6.0, 12.0, 0.0, 0], "not kept, as another function is called now"


def test_whoever_asks_is_told_of_every_kernel_that_is_compiled_and_of_none_that_is_found_on_disk(
    tmp_path: Path,
) -> None:
    (tmp_path / "sums.py").write_text(
        "from nutmeg.base.kernels import kernel\n\n@kernel\ndef one(x):\n    return x + 1\n\n"
        "@kernel\ndef two(x):\n    return one(x) + 1\n"
    )
    program = (
        "from nutmeg.base.installation import ON_COMPILED\nheard = []\nON_COMPILED.append(heard.append)\n"
        "from sums import two\nassert two(1) == 3\nprint(heard)"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for expected in ("[1, 2]", "[]"):
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.stdout.strip(), done.stderr) == (expected, "")


DECORATORS = {"kernel", "inlined", "unchecked", "for_each_world"}
UNSAFE = """
@kernel
def taken_once():
    games = np.zeros(1, GAME)
    game = games[0]
    return game.time

@kernel
def taken_in_a_pair(chosen):
    games, orders = np.zeros(1, GAME), np.zeros(1, ORDER)
    game, order = games[0], orders[0]
    for m in chosen:
        game.time += orders[0].time

@kernel
def taken_from_a_temporary():
    game = np.zeros(1, GAME)[0]
    return game.time
"""
SAFE = """
@kernel
def taken_from_an_argument(games):
    game = games[0]
    return game.time

@kernel
def taken_in_every_turn(chosen):
    games = np.zeros(3, GAME)
    for m in chosen:
        game = games[m]
        game.time = 1.0
        game.side = 2

@kernel
def numbers(chosen):
    values = np.zeros(3, np.int64)
    first = values[0]
    return first
"""


def test_no_kernel_uses_a_record_of_an_array_that_numba_has_freed() -> None:
    assert freed_records(UNSAFE) == ["taken_once: game", "taken_in_a_pair: game", "taken_from_a_temporary: game"]
    assert freed_records(SAFE) == []
    sources = sorted(Path(nutmeg.__file__).parent.rglob("*.py"))
    found = {str(path): freed_records(path.read_text(encoding="utf-8")) for path in sources}
    assert {path: records for path, records in found.items() if records} == {}


def freed_records(source: str) -> list[str]:
    """Kernels that take a record from an array of their own and use it after the last line that names the array."""
    functions = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.FunctionDef)]
    kernels = [one for one in functions if DECORATORS & {ast.unparse(name) for name in one.decorator_list}]
    return [f"{one.name}: {record}" for one in kernels for record in _freed_records_of(one)]


def _freed_records_of(kernel: ast.FunctionDef) -> list[str]:
    pairs = [
        (target, value)
        for one in ast.walk(kernel)
        if isinstance(one, ast.Assign | ast.AnnAssign) and one.value is not None
        for target, value in _assigned(one.targets[0] if isinstance(one, ast.Assign) else one.target, one.value)
    ]
    arrays = {target.id for target, value in pairs if isinstance(target, ast.Name) and _makes_records(value)}
    freed = []
    for target, value in pairs:
        if not (isinstance(target, ast.Name) and isinstance(value, ast.Subscript)) or isinstance(
            value.slice, ast.Slice
        ):
            continue
        if _makes_records(value.value):
            freed.append(target.id)
        elif isinstance(value.value, ast.Name) and value.value.id in arrays:
            # A loop names the array again in its next turn, so that it lives until the end of the loop.
            loops = [one for one in ast.walk(kernel) if isinstance(one, ast.For | ast.While) and value in ast.walk(one)]
            ends = [one.end_lineno or 0 for one in loops] + _lines_of(kernel, value.value.id)
            if max(_lines_of(kernel, target.id), default=0) > max(ends):
                freed.append(target.id)
    return freed


def _assigned(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Names and what they become, one by one."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _makes_records(value: ast.expr) -> bool:
    """Whether an expression makes an array of records, whose dtypes have names in capitals: `np.zeros(1, GAME)`."""
    if not isinstance(value, ast.Call) or ast.unparse(value.func) not in ("np.zeros", "np.empty", "np.full"):
        return False
    return isinstance(value.args[-1], ast.Name) and value.args[-1].id.isupper()


def _lines_of(kernel: ast.FunctionDef, name: str) -> list[int]:
    """The lines that read a variable."""
    return [
        one.lineno
        for one in ast.walk(kernel)
        if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
    ]
