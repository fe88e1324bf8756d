# SPDX-License-Identifier: MIT OR Apache-2.0
# A server of connections: 1,500 over loopback at once, of which one in 16 stays. Needs perl (--with perl), without modules.
cat > /tmp/sockets.pl <<'PERL'
my ($inet, $stream, $level, $reuse) = (2, 1, 1, 2);
my $at = pack('S n a4 x8', $inet, 7000, "\x7f\0\0\1");
socket(my $server, $inet, $stream, 0) or die "socket: $!";
setsockopt($server, $level, $reuse, pack('i', 1));
bind($server, $at) and listen($server, 128) or die "listen: $!";
my (@pairs, $random);
for (1 .. 1500) {
	socket(my $client, $inet, $stream, 0) or die "socket: $!";
	connect($client, $at) or die "connect: $!";
	accept(my $served, $server) or die "accept: $!";
	syswrite($client, "hello\n");
	sysread($served, my $text, 6);
	push @pairs, [$client, $served];
}
$random = 1;
for my $pair (@pairs) {
	$random = ($random * 1103515245 + 12345) % 2147483648;
	if (int($random / 65536) % 16) {
		# The server ends first and keeps no state of its own of what was: the client is reset.
		setsockopt($pair->[1], $level, 13, pack('ii', 1, 0));
		close($pair->[1]);
		close($pair->[0]);
	}
}
open(my $done, '>', '/tmp/done') and close($done);
sleep 600;
PERL
ulimit -n 8192
perl /tmp/sockets.pl &
perl=$!
until [ -e /tmp/done ]; do
	kill -0 $perl
	sleep 0.1
done
sleep 2
awk '/^Slab:/{print "RESULT", $0}' /proc/meminfo
