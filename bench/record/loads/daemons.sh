# SPDX-License-Identifier: MIT OR Apache-2.0
# nginx with two workers and 20,000 requests of four clients, and 200 transactions of sqlite beside them.
cat > "$PLACE/nginx.conf" << END
worker_processes 2;
pid $PLACE/pid;
error_log $PLACE/error.log;
events {}
http { access_log off; server { listen 127.0.0.1:8089; root $PLACE; } }
END
echo hello > "$PLACE/index.html"
nginx -c "$PLACE/nginx.conf"
sleep 0.3
client='
import http.client
for _ in range(5000):
    connection = http.client.HTTPConnection("127.0.0.1", 8089)
    connection.request("GET", "/index.html")
    connection.getresponse().read()
    connection.close()'
for i in 1 2 3 4; do
	python3 -c "$client" &
	clients="${clients:-} $!"
done
sqlite3 "$PLACE/t.db" "create table t(a, b)"
i=0
while [ $i -lt 200 ]; do
	sqlite3 "$PLACE/t.db" "insert into t select value, hex(randomblob(50)) from generate_series(1, 200)"
	i=$((i + 1))
done
wait $clients
kill "$(cat "$PLACE/pid")"
