"""What the C standard gives to every header, so that no system header has to be read."""

from __future__ import annotations

__all__ = ["HEADERS", "MACROS", "TYPES", "UNKNOWN_TYPES"]

#: Standard headers that declare nothing a binding needs beyond the names below.
HEADERS = frozenset({
    "assert.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdalign.h", "stdarg.h", "stdbool.h",
    "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h", "string.h", "sys/types.h", "time.h", "uchar.h",
    "wchar.h",
})  # fmt: skip

#: Macros with one value on every platform that ORT ships for. What differs between them (LONG_MAX, SIZE_MAX) is left
#: out: then a constant that is made of it is skipped, with the reason, and never given one platform's value.
MACROS = {
    "__STDC__": "1", "__STDC_VERSION__": "201710L", "__STDC_HOSTED__": "1",
    "CHAR_BIT": "8", "SCHAR_MIN": "(-128)", "SCHAR_MAX": "127", "UCHAR_MAX": "255",
    "SHRT_MIN": "(-32768)", "SHRT_MAX": "32767", "USHRT_MAX": "65535",
    "INT_MIN": "(-2147483647-1)", "INT_MAX": "2147483647", "UINT_MAX": "4294967295U",
    "LLONG_MIN": "(-9223372036854775807LL-1)", "LLONG_MAX": "9223372036854775807LL",
    "ULLONG_MAX": "18446744073709551615ULL",
    "INT8_MIN": "(-128)", "INT8_MAX": "127", "UINT8_MAX": "255",
    "INT16_MIN": "(-32768)", "INT16_MAX": "32767", "UINT16_MAX": "65535",
    "INT32_MIN": "(-2147483647-1)", "INT32_MAX": "2147483647", "UINT32_MAX": "4294967295U",
    "INT64_MIN": "(-9223372036854775807LL-1)", "INT64_MAX": "9223372036854775807LL",
    "UINT64_MAX": "18446744073709551615ULL",
    "INT8_C(x)": "x", "INT16_C(x)": "x", "INT32_C(x)": "x", "INT64_C(x)": "x##LL",
    "UINT8_C(x)": "x", "UINT16_C(x)": "x", "UINT32_C(x)": "x##U", "UINT64_C(x)": "x##ULL",
    "true": "1", "false": "0", "noreturn": "_Noreturn",
}  # fmt: skip

#: Types that a header may use without declaring them, with what they are here.
TYPES = {
    "ORTCHAR_T": "ORTCHAR_T", "wchar_t": "wchar_t", "bool": "bool",
    "size_t": "size_t", "ssize_t": "ssize_t", "ptrdiff_t": "ptrdiff_t", "intptr_t": "intptr_t",
    "uintptr_t": "uintptr_t", "intmax_t": "int64_t", "uintmax_t": "uint64_t",
    "int8_t": "int8_t", "int16_t": "int16_t", "int32_t": "int32_t", "int64_t": "int64_t",
    "uint8_t": "uint8_t", "uint16_t": "uint16_t", "uint32_t": "uint32_t", "uint64_t": "uint64_t",
    "int_least8_t": "int8_t", "int_least16_t": "int16_t", "int_least32_t": "int32_t", "int_least64_t": "int64_t",
    "uint_least8_t": "uint8_t", "uint_least16_t": "uint16_t", "uint_least32_t": "uint32_t",
    "uint_least64_t": "uint64_t", "char16_t": "uint16_t", "char32_t": "uint32_t",
}  # fmt: skip

#: Types of the standard and of compilers that have no form in ctypes which is the same everywhere. A parser has to
#: know them as types all the same, so that they can be refused by name.
UNKNOWN_TYPES = frozenset({
    "va_list", "__builtin_va_list", "FILE", "fpos_t", "time_t", "clock_t", "max_align_t", "wint_t", "char8_t",
    "int_fast8_t", "int_fast16_t", "int_fast32_t", "int_fast64_t", "uint_fast8_t", "uint_fast16_t", "uint_fast32_t",
    "uint_fast64_t", "_Float16", "_Float32", "_Float64", "_Float128", "__float128", "__bf16", "__fp16", "off_t",
})  # fmt: skip
