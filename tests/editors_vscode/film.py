"""Pictures of the window, one for each state, put together to an animated PNG."""

import base64
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.editors_vscode.window import Window

OVER = 1
"""A frame is drawn over the one before."""
SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANGED = """
const blank = await page.context().newPage();
const frames = await blank.evaluate(async (pictures) => {
  const frames = [];
  let before;
  for (const picture of pictures) {
    const image = new Image();
    image.src = "data:image/png;base64," + picture;
    await image.decode();
    const { width, height } = image;
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const data = context.getImageData(0, 0, width, height);
    const pixels = new Uint32Array(data.data.buffer);
    const now = pixels.slice();
    let [left, top, right, bottom] = before ? [width, height, 0, 0] : [0, 0, width, height];
    for (let at = 0; before && at < pixels.length; at++) {
      if (pixels[at] === before[at]) {
        pixels[at] = 0;
      } else {
        const x = at % width, y = Math.floor(at / width);
        [left, right] = [Math.min(left, x), Math.max(right, x + 1)];
        [top, bottom] = [Math.min(top, y), Math.max(bottom, y + 1)];
      }
    }
    before = now;
    if (right <= left) [left, top, right, bottom] = [0, 0, 1, 1];
    const part = new OffscreenCanvas(right - left, bottom - top);
    part.getContext("2d").putImageData(data, -left, -top);
    const bytes = new Uint8Array(await (await part.convertToBlob({ type: "image/png" })).arrayBuffer());
    frames.push([left, top, btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))]);
  }
  return frames;
}, argument);
await blank.close();
return frames;
"""
"""Of each picture, the smallest rectangle with all that differs from the picture before, the rest clear."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A PNG at its place in the animation, shown for some milliseconds."""

    left: int
    top: int
    png: bytes
    milliseconds: int


class Film:
    """What the window shows, as often as `take` is called.

    It repeats for ever and may begin anywhere: where nothing moves, only its first picture is seen.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._pictures: list[tuple[str, int]] = []
        self._first = 0

    def take(self, milliseconds: int, *, first: bool = False) -> None:
        """A picture of the window as it is, to be shown for this long; `first` has the film begin here."""
        if first:
            self._first = len(self._pictures)
        shot = self._window.code.page("return (await page.screenshot()).toString('base64')")
        self._pictures.append((shot, milliseconds))

    def type(self, text: str, keys: int = 1) -> None:
        """Type, with a picture after so many keys."""
        for at in range(0, len(text), keys):
            self._window.type(text[at : at + keys])
            self.take(70 * keys)

    def save(self, path: Path) -> None:
        """Write the animation."""
        pictures = self._pictures[self._first :] + self._pictures[: self._first]
        parts = self._window.code.page(CHANGED, [picture for picture, _ in pictures])
        times = [milliseconds for _, milliseconds in pictures]
        frames = [
            Frame(left, top, base64.b64decode(png), milliseconds)
            for (left, top, png), milliseconds in zip(parts, times, strict=True)
        ]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(animated(frames))


def animated(frames: Sequence[Frame]) -> bytes:
    """An animated PNG that repeats for ever; the first frame covers all of it."""
    header = _chunks(frames[0].png)[0][1]
    parts = [SIGNATURE, _chunk(b"IHDR", header), _chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    numbers = iter(range(3 * 1000))
    for index, frame in enumerate(frames):
        chunks = _chunks(frame.png)
        width, height = struct.unpack(">II", chunks[0][1][:8])
        assert chunks[0][1][8:] == header[8:], "the frames have different kinds of pixels"
        place = (next(numbers), width, height, frame.left, frame.top, frame.milliseconds, 1000, 0, OVER)
        parts.append(_chunk(b"fcTL", struct.pack(">IIIIIHHBB", *place)))
        data = b"".join(body for kind, body in chunks if kind == b"IDAT")
        if index == 0:
            parts.append(_chunk(b"IDAT", data))
        else:
            parts.append(_chunk(b"fdAT", struct.pack(">I", next(numbers)) + data))
    return b"".join([*parts, _chunk(b"IEND", b"")])


def _chunks(png: bytes) -> list[tuple[bytes, bytes]]:
    def read() -> Iterator[tuple[bytes, bytes]]:
        at = len(SIGNATURE)
        while at < len(png):
            (length,) = struct.unpack(">I", png[at : at + 4])
            yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
            at += 12 + length

    return list(read())


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
