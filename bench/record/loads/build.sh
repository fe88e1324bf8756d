# SPDX-License-Identifier: MIT OR Apache-2.0
# Two folders of a kernel, in the smallest configuration.
make -s -C "$LINUX" O="$PLACE/kbuild" tinyconfig > /dev/null
make -s -C "$LINUX" O="$PLACE/kbuild" -j2 kernel/ mm/ > /dev/null
