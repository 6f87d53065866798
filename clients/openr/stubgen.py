#!/usr/bin/env python3
"""From an object's stub.cfg to the files its source includes: def.h, entry.h and the stub itself.

An OPEN-R object is a class; its stub makes the one instance of it (`Self`) and a table of entry points, each of which
calls a function of that instance. stub.cfg says which (OPEN-R SDK, Programmer's Guide, sections 2.3 and 3.2)::

    ObjectName : SampleClass
    NumOfOSubject : 1
    NumOfOObserver : 1
    Service : "SampleClass.Move.OCommandVectorData.S", null, Ready()
    Service : "SampleClass.Sensor.OSensorFrameVectorData.O", Connect(), Notify()
    Extra : UpdatePowerStatus()

Example: `./stubgen.py stub.cfg --into build` writes build/def.h, build/entry.h and build/SampleClassStub.cc.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FIRST_SELECTOR = 4  # after INIT, START, STOP and DESTROY

FIELDS = {
    "ObjectName": "ObjectName",
    "NumOfOSubject": "NumOfOSubject",
    "NumOfOObserver": "NumOfOObserver",
    "NumOfSubject": "NumOfOSubject",
    "NumOfObserver": "NumOfOObserver",
}
"""Keys, and older spellings of them."""

SERVICE = re.compile(r'"(?P<name>[^"]+)"\s*,\s*(?P<link>\w+)\s*(\(\s*\))?\s*,\s*(?P<data>\w+)\s*(\(\s*\))?$')


class StubError(Exception):
    """A stub.cfg that cannot be understood; the text says where, and what is allowed."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """One subject or observer."""

    name: str
    """Object.Subname.Data.S or .O"""
    link: str | None
    """Function called when it is connected; None for null."""
    data: str | None
    """Function called on READY (subject) or on data (observer); None for null."""

    @property
    def subname(self) -> str:
        """The second part of the name: what def.h calls it."""
        return self.name.split(".")[1]


@dataclass(frozen=True, kw_only=True)
class Stub:
    """A whole stub.cfg."""

    object_name: str
    """The core class."""
    subjects: tuple[Service, ...]
    """Services that send, in the order of the file."""
    observers: tuple[Service, ...]
    """Services that receive, in the order of the file."""
    extras: tuple[str, ...]
    """Further entry points."""


def read_stub(text: str, where: str = "stub.cfg") -> Stub:
    """The stub that a configuration describes; raises StubError with the line."""
    fields: dict[str, str] = {}
    subjects: list[Service] = []
    observers: list[Service] = []
    extras: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.split("//")[0].strip()
        if not content or content.startswith("#"):
            continue
        key, colon, value = (part.strip() for part in content.partition(":"))
        if not colon:
            raise StubError(f"{where}:{number}: '{content}' is not of the form 'key : value'")
        if key == "Service":
            service = _read_service(value, f"{where}:{number}")
            (subjects if service.name.endswith(".S") else observers).append(service)
        elif key == "Extra":
            extras.append(value.removesuffix("()").strip())
        elif key in FIELDS:
            fields[FIELDS[key]] = value
        else:
            allowed = ", ".join([*FIELDS, "Service", "Extra"])
            raise StubError(f"{where}:{number}: unknown key '{key}'; allowed are {allowed}")
    return _checked(fields, subjects, observers, extras, where)


def _checked(
    fields: dict[str, str], subjects: list[Service], observers: list[Service], extras: list[str], where: str
) -> Stub:
    """The stub, after its counts have been compared with its services."""
    if "ObjectName" not in fields:
        raise StubError(f"{where}: there is no ObjectName")
    for key, found in (("NumOfOSubject", subjects), ("NumOfOObserver", observers)):
        if key in fields and fields[key] != str(len(found)):
            raise StubError(f"{where}: {key} is {fields[key]}, but {len(found)} such services follow")
    return Stub(
        object_name=fields["ObjectName"], subjects=tuple(subjects), observers=tuple(observers), extras=tuple(extras)
    )


def _read_service(value: str, where: str) -> Service:
    match = SERVICE.match(value)
    if match is None:
        raise StubError(f'{where}: a service is "Object.Name.Data.S", function() or null, function() or null')
    name = match["name"]
    if not re.fullmatch(r"\w+\.\w+\.[\w.]+\.[SO]", name):
        raise StubError(f"{where}: service name '{name}' is not Object.Name.Data.S or Object.Name.Data.O")
    return Service(name=name, link=_function(match["link"]), data=_function(match["data"]))


def _function(name: str) -> str | None:
    return None if name.lower() == "null" else name


def def_header(stub: Stub) -> str:
    """def.h: how many subjects and observers, and the place of each by its name."""
    lines = [
        f"const int numOfSubject = {len(stub.subjects)};",
        f"const int numOfObserver = {len(stub.observers)};",
        *(f"const int sbj{service.subname} = {index};" for index, service in enumerate(stub.subjects)),
        *(f"const int obs{service.subname} = {index};" for index, service in enumerate(stub.observers)),
    ]
    return _guarded("DEF_H", lines)


def entry_header(stub: Stub) -> str:
    """entry.h: the selectors and names of all services, for the macros in core_macro.h."""
    subjects, observers = len(stub.subjects), len(stub.observers)
    first = FIRST_SELECTOR
    lines = [
        "#include <Types.h>",
        '#include "def.h"',
        _array("Selector", "Entry_Control", range(first, first + 2 * subjects, 2)),
        _array("Selector", "Entry_Ready", range(first + 1, first + 2 * subjects, 2)),
    ]
    first += 2 * subjects
    lines += [
        _array("Selector", "Entry_Connect", range(first, first + 2 * observers, 2)),
        _array("Selector", "Entry_Notify", range(first + 1, first + 2 * observers, 2)),
    ]
    first += 2 * observers
    lines += [
        _array("Selector", "Extra_Entry", range(first, first + len(stub.extras))),
        *(f"const int entry{name} = {index};" for index, name in enumerate(stub.extras)),
        _array("char* const", "subjectService", (f'"{service.name}"' for service in stub.subjects)),
        _array("char* const", "observerService", (f'"{service.name}"' for service in stub.observers)),
    ]
    return _guarded("ENTRY_H", lines)


def _array(kind: str, name: str, values: Iterable[object]) -> str:
    listed = ", ".join(str(value) for value in values)
    return f"static const {kind} {name}[] __attribute__((unused)) = {{{listed or 0}}};"


def _guarded(name: str, lines: list[str]) -> str:
    return "\n".join([f"#ifndef NUTMEG_STUB_{name}", f"#define NUTMEG_STUB_{name}", *lines, "#endif", ""])


STUB_HEAD = """\
// Made from stub.cfg by stubgen.py.
#include <MCOOP.h>
#include <OPENR/OObserver.h>
#include <OPENR/OPENREvent.h>
#include <OPENR/OSubject.h>
#include <ObjectEntryTable.h>

#include "{header}"
#include "entry.h"

{name} Self;

namespace {{
OSystemEvent event_of(void* m) {{
    OReasonMessage* message = static_cast<OReasonMessage*>(m);
    return OSystemEvent(message->reason, message->param, message->paramSize);
}}
void init_entry(void* m) {{ Self.Init(event_of(m)); }}
void start_entry(void* m) {{ Self.Start(event_of(m)); }}
void stop_entry(void* m) {{ Self.Stop(event_of(m)); }}
void destroy_entry(void* m) {{ Self.Destroy(event_of(m)); }}
"""

EXTRA_CALL = """\
template <class R, class C, class A>
void call_extra(C& object, R (C::*function)(A), void* m) { (object.*function)((A)m); }
"""

CONTROL = """\
void control_{i}(void* m) {{
    OControlMessage* message = static_cast<OControlMessage*>(m);
    OStatus status = {call};
    Self.subject[{i}]->ControlHandler(*message, status);
}}
void ready_{i}(void* m) {{
    OReadyMessage* message = static_cast<OReadyMessage*>(m);
    Self.subject[{i}]->ReadyHandler(*message);
    {data}
}}
"""

CONNECT = """\
void connect_{i}(void* m) {{
    OConnectMessage* message = static_cast<OConnectMessage*>(m);
    OStatus status = {call};
    Self.observer[{i}]->ConnectHandler(*message, status);
}}
void notify_{i}(void* m) {{
    ONotifyMessage* message = static_cast<ONotifyMessage*>(m);
    ONotifyEvent event;
    event.SetIndex({i});
    Self.observer[{i}]->NotifyHandler(*message, &event);
    {data}
}}
"""


def stub_source(stub: Stub, header: str) -> str:
    """The stub: the instance, a function for each entry, and the table of them."""
    text = STUB_HEAD.format(name=stub.object_name, header=header)
    table = ["init_entry", "start_entry", "stop_entry", "destroy_entry"]
    for i, service in enumerate(stub.subjects):
        event = f"OControlEvent({i}, message->observerID, message->subName, message->command)"
        ready = f"Self.{service.data}(OReadyEvent({i}, message->observerID, message->command));"
        call = f"Self.{service.link}({event})" if service.link else "oSUCCESS"
        text += CONTROL.format(i=i, call=call, data=ready if service.data else "")
        table += [f"control_{i}", f"ready_{i}"]
    for i, service in enumerate(stub.observers):
        event = f"OConnectEvent({i}, message->subName, message->command)"
        call = f"Self.{service.link}({event})" if service.link else "oSUCCESS"
        text += CONNECT.format(i=i, call=call, data=f"Self.{service.data}(event);" if service.data else "")
        table += [f"connect_{i}", f"notify_{i}"]
    if stub.extras:
        text += EXTRA_CALL
    for name in stub.extras:
        text += f"void extra_{name}(void* m) {{ call_extra(Self, &{stub.object_name}::{name}, m); }}\n"
        table.append(f"extra_{name}")
    rows = "".join(f"    {{{selector}, (Entry){function}}},\n" for selector, function in enumerate(table))
    return f"{text}}}  // namespace\n\nObjectEntry ObjectEntryTable[] = {{\n{rows}    {{UNDEF, ENTRY_UNDEF}}}};\n"


def write_stub(configuration: Path, into: Path) -> Path:
    """Writes the three files and answers the path of the stub."""
    stub = read_stub(configuration.read_text(encoding="latin-1"), str(configuration))
    into.mkdir(parents=True, exist_ok=True)
    header = _header_of(stub.object_name, configuration.parent)
    source = into / f"{stub.object_name}Stub.cc"
    (into / "def.h").write_text(def_header(stub), encoding="utf-8")
    (into / "entry.h").write_text(entry_header(stub), encoding="utf-8")
    source.write_text(stub_source(stub, header), encoding="latin-1")
    return source


def _header_of(name: str, folder: Path) -> str:
    """The core class's header: its name, however capitals are used in the file's."""
    for path in folder.glob("*.h"):
        if path.stem.lower() == name.lower():
            return path.name
    return f"{name}.h"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Makes def.h, entry.h and the stub of an OPEN-R object.")
    parser.add_argument("configuration", type=Path, help="stub.cfg")
    parser.add_argument("--into", type=Path, default=Path(), help="folder for the three files")
    arguments = parser.parse_args()
    try:
        write_stub(arguments.configuration, arguments.into)
    except (StubError, OSError) as problem:
        sys.stderr.write(f"stubgen: {problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
