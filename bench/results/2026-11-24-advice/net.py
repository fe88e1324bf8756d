# SPDX-License-Identifier: MIT OR Apache-2.0
# Many sockets over loopback: 2,000 TCP connections that stay and talk, and a storm of 8,000 short ones, with epoll; datagrams.
import select, socket, threading
def serve(ls, stop):
    ep = select.epoll(); ep.register(ls, select.EPOLLIN); conns = {}
    while not stop.is_set():
        for fd, ev in ep.poll(0.05):
            if fd == ls.fileno():
                try: c, _ = ls.accept()
                except OSError: continue
                c.setblocking(False); conns[c.fileno()] = c; ep.register(c, select.EPOLLIN)
            else:
                c = conns[fd]
                try: data = c.recv(65536)
                except OSError: data = b''
                if data:
                    try: c.send(data)
                    except OSError: pass
                else:
                    ep.unregister(fd); conns.pop(fd).close()
ls = socket.socket(); ls.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); ls.bind(('127.0.0.1', 0)); ls.listen(4096)
stop = threading.Event(); t = threading.Thread(target=serve, args=(ls, stop)); t.start()
where = ls.getsockname()
stay = []
for i in range(2000):
    s = socket.create_connection(where); s.sendall(b'x' * (i % 1400 + 1)); stay.append(s)
for r in range(4):
    for s in stay: s.recv(65536); s.sendall(b'y' * 200)
    for i in range(2000):
        s = socket.create_connection(where); s.sendall(b'z' * 100); s.recv(100); s.close()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', 0))
for i in range(20000):
    u.sendto(b'd' * (i % 1000), u.getsockname()); u.recv(2000)
for s in stay: s.close()
stop.set(); t.join()
