"""The aarch64 shim on an emulated processor: the system's own loader opens it, and its functions jump."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ortcache.host.elf import shared_object

from ..support.oracles import need

PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
long target(long a, long b, double c) { return a * 1000 + b * 10 + (long)(c * 2); }
long other(void) { return -5; }
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) { puts(dlerror()); return 1; }
  long (*create)(long, long, double) = (long (*)(long, long, double))dlsym(library, "CreateEpFactories");
  long (*release)(void) = (long (*)(void))dlsym(library, "ReleaseEpFactory");
  if (!create || !release || dlsym(library, "Other")) { puts("symbols"); return 2; }
  printf("%ld %ld\\n", create(7, 3, 2.5), release());
  return dlclose(library);
}
"""


def test_the_emulated_loader_opens_it_and_the_functions_jump(tmp_path: Path) -> None:
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    need("aarch64", compiler and emulator)
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    # At fixed addresses, so that they are known before it runs.
    subprocess.run([compiler, "-O1", "-no-pie", "-fno-pie", "-o", program, source, "-ldl"], check=True)
    symbols = subprocess.run(["aarch64-linux-gnu-nm", program], capture_output=True, text=True, check=True).stdout
    addresses = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if " T " in line}
    shim = tmp_path / "shim.so"
    functions = {"CreateEpFactories": addresses["target"], "ReleaseEpFactory": addresses["other"]}
    shim.write_bytes(shared_object("aarch64", functions))
    result = subprocess.run(
        [emulator, "-L", "/usr/aarch64-linux-gnu", program, shim], capture_output=True, text=True, check=False
    )
    assert (result.stdout, result.returncode) == ("7035 -5\n", 0), result.stderr
