# SPDX-License-Identifier: MIT OR Apache-2.0
# 5,000 processes, one after the other.
i=0
while [ $i -lt 5000 ]; do
	/bin/true
	i=$((i + 1))
done
