# SPDX-License-Identifier: MIT OR Apache-2.0
make -s -C /usr/src/linux-source-6.1/ O=/tmp/kbuild tinyconfig >/dev/null 2>&1
make -s -C /usr/src/linux-source-6.1/ O=/tmp/kbuild -j2 kernel/ mm/ >/dev/null 2>&1
