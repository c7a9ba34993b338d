"""Draws media/icon.png: a stream that bends around a cursor. Needs nothing but Python."""

import math
import struct
import zlib
from pathlib import Path

SIZE = 256
SAMPLES = 3
BACKGROUND_TOP, BACKGROUND_BOTTOM = (18, 48, 82), (10, 24, 44)
WATER = ((86, 204, 242), (64, 156, 255), (118, 120, 255))
CURSOR = (255, 255, 255)


def rounded(x: float, y: float) -> bool:
    radius, edge = 0.2, 0.5
    dx, dy = max(abs(x - 0.5) - edge + radius, 0), max(abs(y - 0.5) - edge + radius, 0)
    return math.hypot(dx, dy) <= radius


def colour(x: float, y: float) -> tuple[int, int, int, int]:
    """The colour at a point of the unit square."""
    if not rounded(x, y):
        return 0, 0, 0, 0
    if abs(x - 0.5) < 0.028 and abs(y - 0.5) < 0.26:
        return *CURSOR, 255
    for index, water in enumerate(WATER):
        middle = 0.32 + 0.18 * index + 0.055 * math.sin(2 * math.pi * (x * 1.15 + 0.12 * index))
        if abs(y - middle) < 0.034 and abs(x - 0.5) > 0.085 and 0.12 < x < 0.88:
            return *water, 255
    ends = zip(BACKGROUND_TOP, BACKGROUND_BOTTOM, strict=True)
    mix = [round(top + (bottom - top) * y) for top, bottom in ends]
    return mix[0], mix[1], mix[2], 255


def pixel(column: int, row: int) -> bytes:
    """The mean of several points, so that edges are smooth."""
    steps = [(index + 0.5) / SAMPLES for index in range(SAMPLES)]
    points = [colour((column + dx) / SIZE, (row + dy) / SIZE) for dx in steps for dy in steps]
    alpha = sum(point[3] for point in points)
    if alpha == 0:
        return bytes(4)
    mean = [round(sum(point[channel] * point[3] for point in points) / alpha) for channel in range(3)]
    return bytes([*mean, round(alpha / len(points))])


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png() -> bytes:
    rows = b"".join(b"\0" + b"".join(pixel(column, row) for column in range(SIZE)) for row in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


if __name__ == "__main__":
    (Path(__file__).parent.parent / "media" / "icon.png").write_bytes(png())
