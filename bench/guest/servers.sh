# SPDX-License-Identifier: GPL-2.0-only
# A small server: busybox httpd and syslogd, dropbear, sqlite; each is used once it is up.
#
#   slablab lab run load --input servers.sh --with sqlite3 --with dropbear --with dropbearkey --with dbclient --memory 32 ...

# The first file system may be full: half of the memory, and it has all programs.
mkdir -p /tmp/www /tmp/root/.ssh /etc /dev/pts
mount -t tmpfs etc /etc
echo root:x:0:0:root:/tmp/root:/bin/sh > /etc/passwd
echo root::1:0:99999:7::: > /etc/shadow
echo /bin/sh > /etc/shells
chmod 700 /tmp/root /tmp/root/.ssh
mount -t devpts pts /dev/pts

syslogd -O /tmp/messages
for i in 1 2 3 4 5 6 7 8 9 10; do logger -t small "line $i"; done

echo 'hello' > /tmp/www/index.html
httpd -p 127.0.0.1:80 -h /tmp/www
for i in $(seq 20); do [ "$(wget -q -O - http://127.0.0.1/index.html)" = hello ] || fail "httpd does not answer"; done

dropbearkey -t ed25519 -f /tmp/host > /dev/null 2>&1
dropbearkey -t ed25519 -f /tmp/root/.ssh/id 2> /dev/null | grep ^ssh-ed25519 > /tmp/root/.ssh/authorized_keys
dropbear -E -s -r /tmp/host -p 127.0.0.1:22 -P /tmp/dropbear.pid 2> /tmp/dropbear.log
for i in 1 2 3; do
	[ "$(HOME=/tmp/root dbclient -y -y -i /tmp/root/.ssh/id root@127.0.0.1 'echo logged in' 2> /tmp/dbclient.log)" = "logged in" ] || {
		cat /tmp/dropbear.log /tmp/dbclient.log
		fail "dropbear does not answer"
	}
done

sqlite3 /tmp/base.db 'create table t (k integer primary key, v text); begin;
	with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
	insert into t select i, hex(randomblob(16)) from n; commit; create index v on t (v);' ||
	fail "sqlite3 does not work"
[ "$(sqlite3 /tmp/base.db 'select count(*) from t')" = 2000 ] || fail "sqlite3 lost rows"
for i in 1 2 3 4 5; do sqlite3 /tmp/base.db "update t set v = hex(randomblob(16)) where k % 5 = $i - 1"; done
grep -q 'line 10' /tmp/messages || fail "syslogd lost a line"
