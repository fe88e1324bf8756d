# SPDX-License-Identifier: MIT OR Apache-2.0
d=$(mktemp -d); python3 -c "
import os,sys
for i in range(60000): open(f'$d/f{i}','w').close()"; ls -l $d | wc -l; rm -rf $d
