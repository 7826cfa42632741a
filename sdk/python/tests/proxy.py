"""A proxy between client and server that loses replies and cuts connections when it is told to."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit


class Proxy:
    """Passes bytes on in both directions."""

    def __init__(self, upstream: str) -> None:
        target = urlsplit(upstream)
        self._upstream = (target.hostname or "", target.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self.lost_replies = 0
        self.replies_to_lose = 0
        """Replies of the server, the next ones, that its clients never get."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Ends every connection that is open now."""
        for connection in list(self._open):
            end(connection)

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._upstream)
                self._open |= {client, server}
                threading.Thread(target=self._pass_on, args=(client, server, False), daemon=True).start()
                threading.Thread(target=self._pass_on, args=(server, client, True), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, is_reply: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if is_reply and self.replies_to_lose > 0:
                    self.replies_to_lose -= 1
                    self.lost_replies += 1
                    break
                target.sendall(data)
        for connection in (source, target):
            end(connection)
            self._open.discard(connection)


def end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
