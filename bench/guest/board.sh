# SPDX-License-Identifier: MIT OR Apache-2.0
# What a small board serves: busybox httpd, nginx, dropbear and sqlite, and clients of each.
ifconfig lo 127.0.0.1 up
mkdir -p /tmp/www /tmp/etc /root /var/log /var/run /run /etc
echo 'root::0:0:root:/root:/bin/sh' > /etc/passwd
echo 'root:x:0:' > /etc/group
echo '<p>hello</p>' > /tmp/www/index.html
httpd -p 127.0.0.1:8080 -h /tmp/www
printf 'user root;\nworker_processes 1;\npid /tmp/nginx.pid;\nerror_log /tmp/error.log;\nevents {}\nhttp { access_log off; client_body_temp_path /tmp/b; proxy_temp_path /tmp/p; fastcgi_temp_path /tmp/f; uwsgi_temp_path /tmp/u; scgi_temp_path /tmp/s; server { listen 127.0.0.1:8081; root /tmp/www; } }\n' > /tmp/nginx.conf
nginx -c /tmp/nginx.conf || echo "nginx: $?"
dropbear -R -B -E -p 127.0.0.1:2222 2> /tmp/dropbear.log || echo "dropbear: $?"
sqlite3 /tmp/t.db 'create table t(a integer primary key, b text)' || echo "sqlite: $?"
i=0
while [ $i -lt 60 ]; do
	wget -q -O /dev/null http://127.0.0.1:8080/index.html &
	wget -q -O /dev/null http://127.0.0.1:8081/index.html &
	sqlite3 /tmp/t.db "insert into t(b) select hex(randomblob(200)) from generate_series(1, 50)"
	# A connection that greets and goes.
	nc -w 1 127.0.0.1 2222 < /dev/null > /dev/null &
	i=$((i + 1))
done
wait
sqlite3 /tmp/t.db 'select count(*) from t'
ps | grep -cE 'httpd|nginx|dropbear'
sleep 2
grep -E '^(Slab|SUnreclaim|MemFree):' /proc/meminfo
