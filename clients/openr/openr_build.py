#!/usr/bin/env python3
"""Builds OPEN-R programs for the host: folders with stub.cfg and sources become objects and a script that runs them.

A folder given may be one object (it holds stub.cfg, or a stub written by hand) or a whole program: object folders
beside `MS/OPEN-R/MW/CONF/CONNECT.CFG`, perhaps with folders `include` and libraries (sources without a stub). Several
may be given: their objects and connections are put together, as a memory stick of the robot holds several. Nothing is
written into the folders given. Sources are taken as the compilers of their day took them (`-std=gnu++98 -fpermissive`).

Example::

    ./openr_build.py path/to/MovingLegs7 path/to/BlinkingLED7 -o /tmp/legs
    /tmp/legs/run --host 127.0.0.1 --sensor-port 10120
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from stubgen import StubError, read_stub, write_stub

HERE = Path(__file__).resolve().parent
RUNNER = HERE / "build" / "openr-run"
CONF = Path("OPEN-R/MW/CONF")
SOURCES = {".cc", ".cpp", ".cxx", ".c", ".C"}
NOT_OBJECTS = {"util", "test", "echo_client", "echo_server", "udp_echo_client"}
"""Folders beside the objects that hold programs for a PC."""


OLD_LANGUAGES = frozenset({"gnu++98", "c++98", "gnu++03", "c++03"})
"""Sources in these get what the headers of the SDK's compiler brought in (include/old_includes.h)."""
MOST_RETRIES = 10
REPEATED = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):(?P<column>\d+): error: redefinition of .\w+[\w\s*&]*.$", re.M)


MISSING_HEADERS = frozenset(
    {
        *("AnalyzerAPI", "DataManager", "FastAllocator", "HWAddress", "ICMPProtocol", "IPEndpointMsg", "IPProtocol"),
        *("IPv4Types", "Internet", "MemoryMapAgent", "MetaSpaceConf", "ODeque", "OPair", "OQueue", "OVRData"),
        *("SharedMemoryAllocator", "SharedMemoryHeader", "StackAllocator", "SystemResource", "TID", "ThreadInfo"),
        *("Util", "WellknownOID", "antIOStream", "escseqs", "stub_macro"),
    }
)
"""Headers of the robot's SDK that this runtime does not have."""
HINTS = (
    (
        re.compile(r"fatal error: (?:OPENR/|MCOOP/)?(?P<name>\w+)\.h: No such file"),
        lambda match: match["name"] in MISSING_HEADERS,
        "{name}.h belongs to the robot's SDK, but not to this runtime: README.md says what is there.",
    ),
    (
        re.compile(r"fatal error: (?P<name>\w+)\.h: No such file"),
        lambda match: match["name"] not in MISSING_HEADERS,
        "{name}.h is no header of OPEN-R: name the folder or the program that it is in, too (-I FOLDER).",
    ),
    (
        re.compile(r"error: .(?P<name>\w+). is not a member of .OPENR."),
        lambda _match: True,
        "OPENR::{name} is not in this runtime: all calls of the maker's Level 2 Reference Guide are, and no others.",
    ),
    (
        re.compile(r"Error: (?:no such instruction|unknown mnemonic)"),
        lambda _match: True,
        "The source has instructions of the robot's MIPS processor in it, which no other can execute.",
    ),
)
"""What a compiler's error means here: its text, whether this is it, what to say."""


class BuildError(Exception):
    """Something that cannot be built; the text says what, and what the compiler said."""


@dataclass(frozen=True, kw_only=True)
class ObjectFolder:
    """One object: a folder with a stub and sources."""

    name: str
    """Name of the object's library."""
    path: Path
    """Where its sources are."""
    roots: tuple[Path, ...]
    """Folders of programs: where shared headers and libraries are looked for."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to compile."""

    out: Path
    """Folder for everything that is made."""
    compiler: str
    """The C++ compiler."""
    flags: tuple[str, ...]
    """Language and warnings of the program's own C++ sources."""
    names: tuple[str, ...] = field(default=())
    """Definitions and folders of headers, for all sources."""
    links: tuple[str, ...] = field(default=())
    """Flags for linking (such as -ljpeg)."""
    without: frozenset[str] = field(default=frozenset())
    """Names of objects that are not to be built."""


def has_stub(folder: Path) -> bool:
    """Whether this folder is an object."""
    if (folder / "stub.cfg").is_file():
        return True
    return any("ObjectEntryTable[" in _text(path).replace(" ", "") for path in _sources(folder))


def find_objects(program: Path, roots: tuple[Path, ...]) -> list[ObjectFolder]:
    """The objects of a program folder, in the order of their names."""
    if not program.is_dir():
        raise BuildError(f"{program} is not a folder; give the folder of an object or of a program")
    folders = [program] if has_stub(program) else [path for path in _folders(program) if has_stub(path)]
    if not folders:
        raise BuildError(f"{program} holds no object: there is no stub.cfg in it or below it")
    return [ObjectFolder(name=_name_of(path), path=path, roots=roots) for path in folders]


def root_of(folder: Path) -> Path:
    """The program that a folder belongs to: itself, or the one above if it is an object beside a memory stick."""
    return folder.parent if has_stub(folder) and (folder.parent / "MS").is_dir() else folder


def _folders(root: Path) -> list[Path]:
    skipped = {"MS", "RP"} | NOT_OBJECTS
    return [
        path
        for path in sorted(root.rglob("*"))
        if path.is_dir() and not skipped & set(path.relative_to(root).parts) and not path.name.startswith(".")
    ]


def _sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in SOURCES)


def _text(path: Path) -> str:
    return path.read_text(encoding="latin-1")


def _name_of(folder: Path) -> str:
    """The object's name: that in stub.cfg, or the folder's; the folder's, too, where several share a name."""
    stub = folder / "stub.cfg"
    if not stub.is_file():
        return folder.name
    name = read_stub(_text(stub), str(stub)).object_name
    return name if name == folder.name or not folder.name.startswith(name) else folder.name


def run_tool(command: list[str], what: str) -> None:
    """Runs a compiler; what it says becomes the error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        said = f"{done.stdout}{done.stderr}"
        raise BuildError(f"{what} failed:\n{shlex.join(command)}\n{said}{explained(said)}")
    sys.stderr.write(done.stderr)


def explained(said: str) -> str:
    """What a compiler's words mean for somebody who knows the robot; empty if nothing is known."""
    for pattern, meant, text in HINTS:
        for match in pattern.finditer(said):
            if meant(match):
                return text.format(**match.groupdict())
    return ""


def compile_sources(sources: list[Path], into: Path, includes: list[Path], settings: Settings) -> list[Path]:
    """Compiles the sources, two at a time; answers the object files."""
    into.mkdir(parents=True, exist_ok=True)
    paths = [f"-I{path}" for path in [*includes, HERE / "include"]]

    def compile_one(source: Path) -> Path:
        target = into / f"{source.stem}.o"
        c_source = source.suffix == ".c"
        compiler = ["gcc", "-w"] if c_source else [settings.compiler, *settings.flags, "-fno-gnu-unique"]
        command = [
            *compiler,
            *settings.names,
            "-g",
            "-O1",
            "-fPIC",
            "-pthread",
            *paths,
            "-c",
            str(source),
            "-o",
            str(target),
        ]
        run_tool(command, f"compiling {source}")
        return target

    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(compile_one, sources))


def library_sources(found: ObjectFolder) -> list[Path]:
    """Sources of the programs' libraries: folders without a stub, under `common`."""
    folders = [
        folder
        for root in found.roots
        if (root / "common").is_dir()
        for folder in _folders(root / "common")
        if not has_stub(folder)
    ]
    return [source for folder in folders for source in _sources(folder)]


def include_folders(found: ObjectFolder) -> list[Path]:
    """Where headers of this object may be: its own folder, and folders named `include` in the programs."""
    return [found.path, *(path for root in found.roots for path in _folders(root) if path.name == "include")]


def excuse_repeated_parameters(problem: str, original: Path, copy: Path) -> bool:
    """Blanks, in a copy of the sources, parameter names that a declaration uses twice; whether there were any.

    Compilers of the time took such declarations, and some of the robot maker's own samples have them.
    """
    places = {(match["path"], int(match["line"]), int(match["column"])) for match in REPEATED.finditer(problem)}
    found = False
    for path, line, column in sorted(places, reverse=True):
        source = Path(path)
        patched = copy / source.name
        if source.parent not in {original, copy} or not patched.is_file():
            continue
        lines = _text(patched).splitlines(keepends=True)
        text = lines[line - 1]
        lines[line - 1] = text[: column - 1] + re.sub(r"^\w+", "", text[column - 1 :])
        patched.write_text("".join(lines), encoding="latin-1")
        sys.stderr.write(f"{original / source.name}:{line}: a parameter's name is used twice; taken as of old\n")
        found = True
    return found


def compile_object(found: ObjectFolder, work: Path, settings: Settings) -> list[Path]:
    """Compiles an object's sources and its stub."""
    folder = found.path
    includes = include_folders(found)
    for _ in range(MOST_RETRIES):
        sources = _sources(folder)
        stub = folder / "stub.cfg"
        if stub.is_file():
            made = write_stub(stub, work)
            sources = [source for source in sources if source.name != made.name] + [made]
        try:
            return compile_sources(sources, work, [work, folder, *includes], settings)
        except BuildError as problem:
            copy = work / "source"
            if not copy.is_dir():
                shutil.copytree(found.path, copy)
            if not excuse_repeated_parameters(str(problem), found.path, copy):
                raise
            folder = copy
    raise BuildError(f"{found.path} could not be compiled in {MOST_RETRIES} attempts")


def build_object(found: ObjectFolder, settings: Settings) -> Path:
    """One object's library."""
    work = settings.out / "work" / found.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    objects = compile_object(found, work, settings)
    shared = compile_sources(library_sources(found), work / "common", [work, *include_folders(found)], settings)
    archive = work / "libcommon.a"
    if shared:
        run_tool(["ar", "crs", str(archive), *map(str, shared)], f"archiving the libraries of {found.name}")
    library = settings.out / "objects" / f"{found.name}.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    run_tool(
        [settings.compiler, "-shared", "-Wl,-Bsymbolic", "-pthread", "-o", str(library), *map(str, objects)]
        + ([str(archive)] if shared else [])
        + list(settings.links),
        f"linking {found.name}",
    )
    return library


def put_on_stick(programs: list[Path], out: Path) -> Path:
    """The memory stick: the programs' MS folders over one another, their connections one after the other."""
    stick = out / "MS"
    shutil.rmtree(stick, ignore_errors=True)
    connections: dict[str, dict[str, None]] = {"": {}}
    for program in programs:
        source = program / "MS"
        if not source.is_dir():
            continue
        shutil.copytree(source, stick, dirs_exist_ok=True)
        listed = source / CONF / "CONNECT.CFG"
        section = ""
        for line in _text(listed).splitlines() if listed.is_file() else []:
            section = line.strip() if line.strip().startswith("[") else section
            if line.strip() and not line.strip().startswith(("#", "//", "[")):
                connections.setdefault(section, {})[line.strip()] = None
    (stick / CONF).mkdir(parents=True, exist_ok=True)
    (stick / "OPEN-R/MW/DATA/P").mkdir(parents=True, exist_ok=True)
    target = stick / CONF / "CONNECT.CFG"
    target.unlink(missing_ok=True)
    lines = [line for section, pairs in connections.items() for line in ([section] if section else []) + list(pairs)]
    target.write_text("".join(f"{line}\n" for line in lines), encoding="latin-1")
    return stick


def write_script(libraries: list[Path], out: Path) -> Path:
    """`run`: the runner with this program's objects, connections and memory stick."""
    objects = " ".join(f'"$here/objects/{library.name}"' for library in libraries)
    script = out / "run"
    script.write_text(
        "#!/bin/sh\n"
        'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)\n'
        f"exec {shlex.quote(str(RUNNER))} \\\n"
        f'    --connections "$here/MS/{CONF}/CONNECT.CFG" --memory-stick "$here/MS" "$@" \\\n'
        f"    {objects}\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    return script


def build(programs: list[Path], settings: Settings) -> Path:
    """Builds everything; answers the path of the script that runs it."""
    folders = [program.resolve() for program in programs]
    roots = tuple(dict.fromkeys(root_of(folder) for folder in folders if folder.is_dir()))
    found = [item for folder in folders for item in find_objects(folder, roots) if item.name not in settings.without]
    names = [item.name for item in found]
    for name in names:
        if names.count(name) > 1:
            raise BuildError(
                f"two objects are called {name}: {', '.join(str(f.path) for f in found if f.name == name)}"
            )
    if shutil.which(settings.compiler) is None:
        raise BuildError(f"there is no compiler '{settings.compiler}'; on Debian: apt-get install g++ make")
    run_tool(["make", "-j2", "-C", str(HERE), "--silent", "all", f"CXX={settings.compiler}"], "building the runner")
    shutil.rmtree(settings.out / "objects", ignore_errors=True)
    libraries = [build_object(item, settings) for item in found]
    put_on_stick(list(roots), settings.out)
    return write_script(libraries, settings.out)


def settings_from(arguments: argparse.Namespace) -> Settings:
    """The settings that the command line asks for."""
    strict = ["-Wall", "-Wextra", "-Werror"] if arguments.strict else ["-w", "-fpermissive"]
    old = ["-include", str(HERE / "include" / "old_includes.h")] if arguments.std in OLD_LANGUAGES else []
    names = [f"-D{name}" for name in arguments.define] + [f"-I{path.resolve()}" for path in arguments.include]
    links = [str(Path(name).resolve()) if "/" in name else f"-l{name}" for name in arguments.library]
    return Settings(
        out=arguments.out.resolve(),
        compiler=os.environ.get("CXX", "g++"),
        flags=(f"-std={arguments.std}", *strict, *old),
        names=tuple(names),
        links=tuple(links),
        without=frozenset(arguments.without),
    )


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Builds OPEN-R programs for the host.")
    parser.add_argument("programs", type=Path, nargs="+", help="folders of objects or programs")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder for what is made; holds `run` afterwards")
    parser.add_argument("--std", default="gnu++98", help="language of the sources (gnu++98)")
    parser.add_argument("--strict", action="store_true", help="all warnings are errors")
    parser.add_argument("-D", "--define", action="append", default=[], help="such as OPENR_DEBUG, for more messages")
    parser.add_argument("-I", "--include", type=Path, action="append", default=[], help="further folder with headers")
    parser.add_argument("--without", action="append", default=[], help="name of an object to leave out")
    parser.add_argument("-l", "--library", action="append", default=[], help="library to link: jpeg, or a path")
    arguments = parser.parse_args()
    if not re.fullmatch(r"(gnu|c)\+\+\w+", arguments.std):
        parser.error(f"--std is '{arguments.std}'; such as gnu++98 or gnu++17")
    try:
        script = build(arguments.programs, settings_from(arguments))
    except (BuildError, StubError, OSError) as problem:
        sys.stderr.write(f"openr_build: {problem}\n")
        return 1
    sys.stdout.write(f"{script}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
