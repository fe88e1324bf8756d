# SPDX-License-Identifier: MIT OR Apache-2.0
# 5,000 processes, one after the other, or as many as PROCESSES says.
i=0
while [ $i -lt "${PROCESSES:-5000}" ]; do
	/bin/true
	i=$((i + 1))
done
