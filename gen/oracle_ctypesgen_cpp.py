"""``cpp`` for ctypesgen without a compiler: ``python gen/oracle_ctypesgen_cpp.py [options as gcc takes them] FILE``.

It is pcpp as it comes, and shares nothing with the generator: an oracle that did would share its faults.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pcpp

__all__ = ["main"]

#: What <stdint.h> and <stdbool.h> declare where int has 32 bits.
_STANDARD = """
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define bool _Bool
"""


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    def on_include_not_found(self, is_malformed: bool, is_system: bool, curdir: str, path: str) -> None:
        if is_malformed or not is_system:
            super().on_include_not_found(is_malformed, is_system, curdir, path)
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)


def main(arguments: list[str]) -> int:
    """Write the preprocessed file to stdout."""
    preprocessor = _Preprocessor()
    preprocessor.line_directive = "#"
    for option in arguments:
        if option.startswith("-D"):
            preprocessor.define(option[2:].replace("=", " ", 1))
    path = Path(arguments[-1])
    preprocessor.parse(_STANDARD + path.read_text("utf-8"), str(path))
    out = io.StringIO()
    preprocessor.write(out)
    # ctypesgen's grammar has no empty declarations, which compilers read and older headers have.
    text = re.sub(r";(?:\s*;)+", lambda match: ";" + "\n" * match[0].count("\n"), out.getvalue())
    sys.stdout.buffer.write(text.encode())
    return int(preprocessor.return_code)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
