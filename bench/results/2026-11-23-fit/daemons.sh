# SPDX-License-Identifier: MIT OR Apache-2.0
# nginx with two workers and 20,000 requests of four clients, and 200 transactions of sqlite beside them.
d=$(mktemp -d)
printf 'worker_processes 2;\npid %s/pid;\nerror_log %s/error.log;\nevents {}\nhttp { access_log off; server { listen 127.0.0.1:8089; root %s; } }\n' "$d" "$d" "$d" >"$d/nginx.conf"
echo hello >"$d/index.html"
nginx -c "$d/nginx.conf"
sleep 0.3
client='
import http.client
for i in range(5000):
    c = http.client.HTTPConnection("127.0.0.1", 8089); c.request("GET", "/index.html"); c.getresponse().read(); c.close()'
for i in 1 2 3 4; do python3 -c "$client" & p="$p $!"; done
sqlite3 "$d/t.db" "create table t(a, b)"
i=0; while [ $i -lt 200 ]; do sqlite3 "$d/t.db" "insert into t select value, hex(randomblob(50)) from generate_series(1, 200)"; i=$((i+1)); done
wait $p
kill "$(cat "$d/pid")"
rm -rf "$d"
