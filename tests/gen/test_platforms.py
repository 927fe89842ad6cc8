"""What a header says for one platform only is refused, and what it says the same for all is not."""

from __future__ import annotations

import pytest

from tests.support.c_headers import parsed, refused


def per_platform(windows: str, others: str, condition: str = "#ifdef _WIN32") -> str:
    return f"{condition}\n{windows}\n#else\n{others}\n#endif\n"


@pytest.mark.parametrize(
    "condition",
    [
        "#ifdef _WIN32",
        "#if defined(_MSC_VER)",
        "#ifndef __GNUC__",
        "#if LONG_MAX > 2147483647",
        "#if __SIZEOF_POINTER__ == 4",
        "#if defined(__cplusplus) || defined(_WIN32)",
    ],
)
def test_declarations_that_differ_are_refused_where_they_do(condition: str) -> None:
    text = "struct A {\n" + per_platform("wchar_t* p;", "char* p;", condition) + "};"
    refused(text, "its branches declare different things", line=2)


def test_a_declaration_for_one_platform_is_refused() -> None:
    refused("#ifdef __APPLE__\nint f(void);\n#endif\n", "asks for the platform", line=1)
    refused('#ifndef _WIN32\n#include "stdint.h"\n#endif\n', "asks for the platform", line=1)
    refused("#ifdef _MSC_VER\n#pragma pack(push, 1)\n#endif\n", "asks for the platform", line=1)


def test_through_a_macro_of_its_own() -> None:
    refused("#ifdef _WIN32\n#define HAVE 1\n#endif\n#ifdef HAVE\nint f(void);\n#endif\n", line=4)


def test_a_macro_that_differs_is_refused_where_it_is_used() -> None:
    text = per_platform("#define CALL __stdcall", "#define CALL")
    assert parsed(text).skipped == {"CALL": "platforms define it differently"}
    refused(text + "int (CALL* f)(void);", "CALL: platforms define this macro differently", line=6)


def test_a_constant_that_differs_is_skipped_with_its_reason() -> None:
    header = parsed(per_platform("#define SEP '\\\\'", "#define SEP '/'") + "#define TWO SEP\n")
    assert not header.constants
    assert header.skipped == {
        "SEP": "platforms define it differently",
        "TWO": "SEP: platforms define this macro differently",
    }


def test_what_differs_in_nothing_that_counts_is_read() -> None:
    text = (
        per_platform("#define EXPORT __declspec(dllexport)", '#define EXPORT __attribute__((visibility("default")))')
        + per_platform("typedef _Return_type_success_(return == 0) int Result;", "typedef int Result;")
        + per_platform("#include <windows.h>\n#pragma warning(push)", "#define _In_\n#define _In_reads_(n)")
        + per_platform("#define ORTCHAR_T wchar_t\n#define ORT_API_CALL __stdcall", "#define ORTCHAR_T char")
        + per_platform("#error not there", "int f(void);", "#if defined(__unknown_OS__) || defined(__QNX__)")
        + "EXPORT Result g(_In_ const ORTCHAR_T* path, _In_reads_(2) int* two);"
    )
    header = parsed(text)
    assert str(header.functions["g"]) == "cdecl int(const ORTCHAR_T* path, int* two)"
    assert "f" in header.functions


def test_what_only_cplusplus_sees_is_no_matter() -> None:
    inner = per_platform("int f(void);", "#define NOEXCEPT noexcept")
    header = parsed(f"#ifdef __cplusplus\n{inner}#else\n#define NOEXCEPT\n#endif\nint g(void) NOEXCEPT;")
    assert list(header.functions) == ["g"]
    assert parsed("#if defined(__cplusplus) && defined(_WIN32)\nint f(void);\n#endif\n").functions == {}


def test_nested_conditions_are_folded_into_the_outer_one() -> None:
    text = per_platform("#ifdef DLL\n#define E __declspec(dllimport)\n#else\n#define E\n#endif", "#define E")
    assert list(parsed(text + "E int f(void);").functions) == ["f"]
    text = per_platform("#ifdef WIDE\nint a;\n#endif", "")
    refused(text, "asks for the platform", line=1)
