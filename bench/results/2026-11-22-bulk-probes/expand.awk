# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes a kfree of each object that the kprobe events few, many and later tell of, so that slablab import places it.
match($0, / (few|many|later): \(/) {
	before = substr($0, 1, RSTART)
	site = substr($0, RSTART + RLENGTH); sub(/\).*/, "", site)
	size = $0; if (!sub(/.* size=/, "", size)) size = 1
	list = $0; sub(/.* objects?=\{?/, "", list); sub(/\}.*/, "", list)
	count = split(list, object, ",")
	for (i = 1; i <= count && i <= size + 0; i++)
		if (object[i] ~ /^0x[0-9a-f]+$/ && object[i] != "0x0")
			printf "%skfree: call_site=%s ptr=%s\n", before, site, substr(object[i], 3)
	next
}
{ print }
