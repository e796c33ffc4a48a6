"""Programs for a Cortex-M microcontroller, run by QEMU: what a bare machine needs besides the program."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

COMPILER, EMULATOR = "arm-none-eabi-gcc", "qemu-system-arm"
BOARDS = {"double": ("mps2-an500", "cortex-m7", "fpv5-d16"), "float": ("mps2-an386", "cortex-m4", "fpv4-sp-d16")}

# The vector table, and the switch that turns the floating-point unit on; the rest is that of newlib.
STARTUP = """\
#include <stdint.h>
#include <stdlib.h>
extern uint32_t stack_top;
extern int main(void);
extern void initialise_monitor_handles(void);
void reset(void);
void _fini(void); /* called at exit */
void _fini(void) {}
void reset(void)
{
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
    __asm__ volatile("dsb\\nisb");
    initialise_monitor_handles();
    exit(main());
}
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {&stack_top, (const void *)reset};
"""
LINKER_SCRIPT = """\
MEMORY { code (rx) : ORIGIN = 0x00000000, LENGTH = 4M  ram (rwx) : ORIGIN = 0x20000000, LENGTH = 4M }
ENTRY(reset)
SECTIONS {
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) *(.init) *(.fini) *(.ARM.ex*) . = ALIGN(4); } > code
    .data : { *(.data*) . = ALIGN(4); } > ram
    .bss : { *(.bss*) *(COMMON) . = ALIGN(8); end = .; _end = .; __end__ = .; } > ram
    stack_top = ORIGIN(ram) + LENGTH(ram);
}
"""


def run_on_cortex_m(folder: Path, sources: list[str], precision: str) -> subprocess.CompletedProcess[str]:
    """Compile C files for a Cortex-M and run the program in QEMU; skip the test if a tool is not installed."""
    for tool in (COMPILER, EMULATOR):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    board, processor, unit = BOARDS[precision]
    (folder / "startup.c").write_text(STARTUP)
    (folder / "board.ld").write_text(LINKER_SCRIPT)
    target = [f"-mcpu={processor}", "-mthumb", f"-mfpu={unit}", "-mfloat-abi=hard", "-T", "board.ld"]
    target += ["--specs=rdimon.specs", "-nostartfiles", "-std=c99", "-Wall", "-Wextra", "-O1"]
    command = [COMPILER, *target, *sources, "startup.c", "-o", "program.elf", "-lm"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    machine = ["-M", board, "-cpu", processor, "-nographic", "-monitor", "none", "-serial", "none"]
    semihosting = ["-semihosting-config", "enable=on,target=native", "-kernel", "program.elf"]
    return subprocess.run([EMULATOR, *machine, *semihosting], cwd=folder, capture_output=True, text=True, timeout=60)
