#!/usr/bin/env python3
"""Short connections over loopback, each watched by an epoll of its own: what frees by kfree_rcu and in bulk."""
import select
import socket
import sys

connections = int(sys.argv[1]) if len(sys.argv) > 1 else 80_000
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen(128)
address = listener.getsockname()
for _ in range(connections):
    client = socket.socket()
    # Without it the local ports run out: the client would wait in TIME_WAIT.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.connect(address)
    server, _ = listener.accept()
    with select.epoll() as poll:
        poll.register(server, select.EPOLLIN)
        client.send(b"question")
        poll.poll()
        server.recv(64)
        server.send(b"answer")
    client.recv(64)
    client.close()
    server.close()
