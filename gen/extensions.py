"""What compilers add to C, sorted by what it does to a binding."""

from __future__ import annotations

__all__ = [
    "CONVENTIONS",
    "DROPPED",
    "HARMLESS",
    "HARMLESS_PRAGMAS",
    "KEYWORDS",
    "REFUSED",
    "RENAMED",
]

#: Attributes that tell an optimiser, a linter or a linker something, and nothing about layout or calls.
HARMLESS = frozenset({
    "access", "alloc_align", "alloc_size", "allocator", "always_inline", "artificial", "assume_aligned",
    "availability", "cold", "const", "copy", "deprecated", "designated_init", "diagnose_if", "dllexport",
    "dllimport", "enum_extensibility", "error", "externally_visible", "fallthrough", "flag_enum", "flatten",
    "format", "format_arg", "gnu_inline", "guard", "hot", "leaf", "malloc", "may_alias", "maybe_unused",
    "no_instrument_function", "no_sanitize", "no_sanitize_address", "no_sanitize_undefined", "no_stack_protector",
    "noalias", "nodiscard", "noescape", "noexcept", "noinline", "nonnull", "nonstring", "noreturn", "nothrow",
    "novtable", "null_terminated_string_arg", "optnone", "ownership_holds", "ownership_returns", "ownership_takes",
    "pure", "reproducible", "restrict", "returns_nonnull", "returns_twice", "selectany", "sentinel", "swift_name",
    "tainted_args", "unavailable", "unsequenced", "unused", "used", "visibility", "warn_unused_result", "warning",
    "weak", "weak_import",
})  # fmt: skip

#: Words without which a declaration declares the same.
DROPPED = frozenset({
    "__extension__", "__inline", "__inline__", "_inline", "inline", "__forceinline", "__restrict", "__restrict__",
    "restrict", "_Noreturn", "register", "auto", "__volatile__", "__volatile", "volatile", "_Nonnull", "_Nullable",
    "_Null_unspecified", "__nonnull", "__nullable",
})  # fmt: skip

RENAMED = {
    "__const": ["const"], "__const__": ["const"], "__signed__": ["signed"], "__signed": ["signed"],
    "__int8": ["char"], "__int16": ["short"], "__int32": ["int"], "__int64": ["long", "long"],
    "_int8": ["char"], "_int16": ["short"], "_int32": ["int"], "_int64": ["long", "long"],
}  # fmt: skip

CONVENTIONS = {
    "ORT_API_CALL": "stdcall", "__stdcall": "stdcall", "_stdcall": "stdcall", "__stdcall__": "stdcall",
    "__cdecl": "cdecl", "_cdecl": "cdecl", "__cdecl__": "cdecl",
}  # fmt: skip

_CALL = "ctypes cannot call functions of this convention"
_ALIGN = "ctypes cannot align a type or a member before Python 3.13"
_THREAD = "a variable for each thread has no address that could be bound"

#: Words with a meaning that has no form in ctypes, and why.
REFUSED = {
    **dict.fromkeys(["__fastcall", "_fastcall", "__vectorcall", "__thiscall", "__regcall", "__pascal"], _CALL),
    **dict.fromkeys(["_Alignas", "alignas", "__unaligned"], _ALIGN),
    **dict.fromkeys(["_Thread_local", "thread_local", "__thread"], _THREAD),
    **dict.fromkeys(["__asm__", "__asm", "asm"], "a symbol renamed by assembler is not looked up"),
    **dict.fromkeys(["_Complex", "__complex__", "_Imaginary"], "ctypes has no complex numbers before Python 3.14"),
    **dict.fromkeys(["__ptr32", "__ptr64", "__sptr", "__uptr"], "a pointer of another size is none that ctypes has"),
    **dict.fromkeys(["typeof", "__typeof__", "__typeof", "typeof_unqual"], "the type is not written out"),
    "_Atomic": "ctypes reads and writes it without the ordering that it asks for",
    "_BitInt": "ctypes has no integers of any width",
    "constexpr": "only `static const` and `#define` are read as constants",
}  # fmt: skip

#: The first two words of pragmas that neither move a member nor change a macro. A single word stands for all with it.
HARMLESS_PRAGMAS = frozenset({
    "once", "warning", "region", "endregion", "message", "comment", "mark", "STDC", "GCC diagnostic",
    "GCC system_header", "GCC visibility", "GCC poison", "GCC dependency", "GCC warning", "GCC error",
    "clang diagnostic", "clang system_header", "clang assume_nonnull", "clang module", "clang final",
})  # fmt: skip

#: Words that begin no name.
KEYWORDS = frozenset({
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "struct", "union",
    "enum", "const", "static", "extern", "typedef",
})  # fmt: skip
