"""The language servers that an editor has started."""

from pathlib import Path


def servers(cache: Path) -> list[int]:
    """The processes of `midstream serve` whose cache is this folder."""
    marker = f"MIDSTREAM_CACHE={cache}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"serve" in words and marker in environment(int(entry.name)).split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def environment(pid: int) -> bytes:
    """The environment of a process, each variable ended by a zero."""
    return Path(f"/proc/{pid}/environ").read_bytes()
