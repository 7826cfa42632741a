"""A real llama.cpp server with a real model, in the clear and behind TLS, until standard input is closed.

Usage: serve.py MODEL.gguf CERTIFICATE.pem KEY.pem
Prints one line when it is ready: `listening on http://127.0.0.1:PORT https://localhost:PORT`.
"""

import socket
import ssl
import sys
import threading
import urllib.parse

import xllamacpp

API_KEY = "sk-llama-test"
BYTES_AT_A_TIME = 65_536


def serve_model(path: str) -> tuple[xllamacpp.Server, str]:
    """The server of llama.cpp, for answers and for embeddings, which wants a key."""
    settings = xllamacpp.CommonParams()
    settings.model.path = path
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = 4_096
    settings.n_parallel = 2
    settings.cpuparams.n_threads = 2
    settings.api_keys = [API_KEY]
    settings.embedding = True
    # With a cache for each slot, a text's mean depends on the length of the texts beside it.
    settings.kv_unified = True
    settings.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(settings)
    return server, server.listening_address


def copy(source: socket.socket, target: socket.socket) -> None:
    """Passes on what comes until it ends."""
    try:
        while piece := source.recv(BYTES_AT_A_TIME):
            target.sendall(piece)
    except OSError:
        pass
    finally:
        for connection in (source, target):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def serve_tls(address: str, certificate: str, key: str) -> int:
    """Ends TLS in front of an address; gives the port."""
    upstream = urllib.parse.urlsplit(address)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))

    def connected(plain: socket.socket) -> None:
        try:
            client = context.wrap_socket(plain, server_side=True)
        except OSError:
            plain.close()
            return
        server = socket.create_connection((upstream.hostname, upstream.port))
        threading.Thread(target=copy, args=(client, server), daemon=True).start()
        copy(server, client)

    def accept() -> None:
        while True:
            plain, _ = listener.accept()
            threading.Thread(target=connected, args=(plain,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def main() -> None:
    model, certificate, key = sys.argv[1:]
    server, address = serve_model(model)
    port = serve_tls(address, certificate, key)
    print(f"listening on {address} https://localhost:{port}", flush=True)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
