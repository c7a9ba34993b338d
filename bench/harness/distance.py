"""A proxy that makes a server on loopback as slow to reach as one that is far away."""

import asyncio

_open = set[asyncio.Task[None]]()


async def distant(port: int, milliseconds: float) -> int:
    """The port of a proxy to `port` with that round trip; opening a connection costs one, as over TCP."""
    half = milliseconds / 2000

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", port)
        for pump in (
            carried(reader, other_writer, half, opening=2 * half),
            carried(other_reader, writer, half),
        ):
            task = asyncio.create_task(pump)
            _open.add(task)
            task.add_done_callback(_open.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    await server.start_serving()
    _keep.append(server)
    return int(server.sockets[0].getsockname()[1])


_keep = list[asyncio.Server]()


async def carried(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float, opening: float = 0
) -> None:
    """Each piece arrives `delay` seconds after it was sent, in order; nothing leaves before `opening`."""
    loop = asyncio.get_running_loop()
    opened = loop.time() + opening
    while True:
        data = await reader.read(1 << 16)
        due = max(loop.time(), opened) + delay
        if not data:
            loop.call_at(due, writer.close)
            return
        loop.call_at(due, writer.write, data)
