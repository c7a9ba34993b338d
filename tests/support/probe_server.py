"""A language server that is only a pipe: what the client writes goes to the test, and back.

    python tests/support/probe_server.py PORT

The test itself is the server (`tests.support.probe`), so that it sees every message in the order of the wire.
"""

import os
import socket
import sys
import threading


def main(port: int) -> None:
    """Copy both ways until either side closes."""
    wire = socket.create_connection(("127.0.0.1", port))
    threading.Thread(target=_copy_down, args=(wire,), daemon=True).start()
    while data := os.read(sys.stdin.fileno(), 65536):
        wire.sendall(data)


def _copy_down(wire: socket.socket) -> None:
    while data := wire.recv(65536):
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
