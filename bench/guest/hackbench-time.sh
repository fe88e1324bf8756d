# SPDX-License-Identifier: GPL-2.0-only
# The time of ten groups of hackbench, by its own clock, the second time they run.
hackbench -g 10 -l 100 -s 100
metric hackbench_seconds "$(hackbench -g 10 -l 100 -s 100 | sed -n 's/^Time: //p')"
