"""The audit log: how long it takes to read a chain of hashes again. The chain is written here, by the rules of the guide alone."""

import hashlib
import json
import sqlite3
import struct

import harness
from harness import Bench, Measurement, Timed

ENTRIES = 100_000
TARGET_SECONDS = 2.0
ORGANIZATION = bytes(16)
COLUMNS = (
    "organization_id, number, at, actor, credential, from_address, request_id, action, target, phase, status, "
    "before, after, previous_hash, hash"
)


def field(content: bytes | None) -> bytes:
    """A field as the hash reads it: whether it is there, its length, its bytes."""
    return b"\0" if content is None else b"\1" + struct.pack(">Q", len(content)) + content


def entry_hash(row: list, previous: bytes) -> bytes:
    """The hash of an entry, as docs/guides/audit.md describes it."""
    encoded = b"fullbench audit entry 1"
    parts = [field(encoded)]
    for value in row:
        match value:
            case int():
                parts.append(field(struct.pack(">q", value)))
            case str():
                parts.append(field(value.encode()))
            case _:
                parts.append(field(value))
    return hashlib.sha256(b"".join([*parts, field(previous)])).digest()


def write_chain(path: str, count: int) -> None:
    """Fills an empty log of the default organization."""
    previous, rows = bytes(32), []
    for number in range(1, count + 1):
        after = json.dumps({"name": f"data set {number}", "tags": ["a", "b"], "description": "x" * 120})
        row = [
            ORGANIZATION, number, 1_700_000_000_000 + number, "key:fb_0123456", f"key:{number:032x}", "192.0.2.7",
            f"request-{number:028x}", "change_dataset", f"{number:032x}", "done", 200, after, after,
        ]  # fmt: skip
        digest = entry_hash(row, previous)
        rows.append([*row, previous, digest])
        previous = digest
    with sqlite3.connect(path) as database:
        places = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO audit_entries ({COLUMNS}) VALUES ({places})", rows)
        # Only the server can seal it, which is the one thing that is found.
        head = [ORGANIZATION, count, previous, bytes(32)]
        database.execute("INSERT INTO audit_heads (organization_id, number, hash, mac) VALUES (?, ?, ?, ?)", head)
    database.close()


def verify(bench: Bench) -> list[Measurement]:
    """A whole `fullbench audit verify`, of the database and of an exported file."""
    count = bench.size(ENTRIES, 20_000)
    with harness.temporary_folder() as folder:
        environment = {"FULLBENCH_HOME": str(folder / "home")}
        made = harness.timed([bench.fullbench(), "db", "migrate"], folder, environment)
        harness.check(made.code == 0, "fullbench db migrate failed", made)
        write_chain(str(folder / "home" / "fullbench.db"), count)
        exported = harness.timed([bench.fullbench(), "audit", "export"], folder, environment)
        harness.check(exported.code == 0, "fullbench audit export failed", exported)
        (folder / "log.jsonl").write_text(exported.stdout)

        def measure(*where: str) -> Timed:
            run = harness.timed([bench.fullbench(), "audit", "verify", "-o", "json", *where], folder, environment)
            harness.check(run.code == 1, "fullbench audit verify failed", run)
            report = json.loads(run.stdout)[0]
            found = [finding["kind"] for finding in report["findings"]]
            whole = found == ["head_forged"] and report["head_checked"] and report["entries"] == count
            harness.check(whole, f"the log is not what was written: {report}", run)
            return run

        runs = harness.repeated(bench, lambda: measure("--organization", "default"))
        files = harness.repeated(bench, lambda: measure("--file", "log.jsonl"))
    seconds, of_file = harness.median_seconds(runs), harness.median_seconds(files)
    return [
        Measurement(
            name="audit",
            what=f"audit log of {count:,} entries verified, hashes and seal, whole process",
            target=f"< {TARGET_SECONDS:.0f} s",
            measured=f"{seconds:.2f} s",
            ratio=TARGET_SECONDS / seconds,
            met=seconds < TARGET_SECONDS,
            detail=f"of an exported file {of_file:.2f} s",
        )
    ]
