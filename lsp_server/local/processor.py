"""What the machine's processor can do, asked before the native runtime is imported."""

import ctypes
import os
import platform
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from lsp_server.engine.errors import ModelMissing
from lsp_server.texts import embedded as texts

PF_AVX2_INSTRUCTIONS_AVAILABLE = 40


def missing_runtime() -> str | None:
    """Why the embedded model cannot run here and what to do, None when it can. Imports nothing native."""
    if find_spec("xllamacpp") is None:
        return texts.NO_RUNTIME
    if platform.machine().lower() in ("x86_64", "amd64") and not has_avx2():
        return texts.NO_AVX2
    return None


def require_runtime() -> None:
    """Raises ModelMissing when the embedded model cannot run here."""
    reason = missing_runtime()
    if reason is not None:
        raise ModelMissing(reason)


def has_avx2() -> bool:
    """Whether an x86 processor runs AVX2. Where the system does not say, the answer is yes."""
    if sys.platform == "win32":
        return bool(ctypes.windll.kernel32.IsProcessorFeaturePresent(PF_AVX2_INSTRUCTIONS_AVAILABLE))
    if sys.platform == "darwin":
        return "AVX2" in _sysctl("machdep.cpu.leaf7_features").split()
    flags = re.search(r"^flags\s*:(.*)$", _cpuinfo(), re.MULTILINE)
    return flags is None or "avx2" in flags[1].split()


def physical_cores() -> int:
    """Cores that this process may use, hyper-threads counted once."""
    usable = os.cpu_count() or 1
    if sys.platform == "linux":
        usable = len(os.sched_getaffinity(0))
    if sys.platform == "darwin":
        fast = _sysctl("hw.perflevel0.physicalcpu") or _sysctl("hw.physicalcpu")
        return int(fast) if fast.isdecimal() else usable
    if sys.platform == "win32":
        return max(1, usable // 2)
    cores = set(
        re.findall(r"^physical id\s*:\s*(\d+)$.*?^core id\s*:\s*(\d+)$", _cpuinfo(), re.MULTILINE | re.DOTALL)
    )
    return min(usable, len(cores)) if cores else usable


def _cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""


def _sysctl(name: str) -> str:
    try:
        answer = subprocess.run(["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip()
