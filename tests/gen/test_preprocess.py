"""Files to tokens: includes, directives, encodings, line ends, macros."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from gen.errors import Coord, GenError
from gen.preprocess import preprocess, preprocess_text
from tests.support.c_headers import refused


def words(text: str) -> str:
    return " ".join(token.text for token in preprocess_text(text).tokens)


def written(folder: Path, **files: str | bytes) -> Path:
    for name, text in files.items():
        (folder / f"{name}.h").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_comments_and_blanks_are_gone_and_every_token_knows_its_line() -> None:
    tokens = preprocess_text("int /* a\n b */ x\n\t\v; // c\n\n\nchar y;").tokens
    assert [(t.text, t.coord.line) for t in tokens] == [
        ("int", 1), ("x", 2), (";", 3), ("char", 6), ("y", 6), (";", 6),
    ]  # fmt: skip
    assert tokens[0].coord == Coord("header.h", 1)


def test_only_a_newline_ends_a_line() -> None:
    # Form feeds and Unicode's separators would end this comment, had Python's idea of lines been asked.
    assert words("int a; // \x0c \x85 \u2028 \x1c int b;\nint c;") == "int a ; int c ;"


def test_windows_line_ends_a_bom_tabs_and_other_encodings(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf// caf\xe9\r\n#define A 1 \\\r\n + 2\r\nstruct S {\r\n\tint\tx;\r\n};\r\n"
    written(tmp_path, a=data)
    source = preprocess([tmp_path / "a.h"])
    assert " ".join(t.text for t in source.tokens) == "struct S { int x ; } ;"
    assert source.tokens[0].coord == Coord("a.h", 4)
    assert source.macros["A"].body == "1 + 2"
    assert source.hashes == {"a.h": hashlib.sha256(data).hexdigest()}
    assert "\r" not in source.texts["a.h"]


def test_old_macs_line_ends() -> None:
    assert words("#define A 1\rint x;\r") == "int x ;"


def test_a_file_in_utf_16_is_refused(tmp_path: Path) -> None:
    written(tmp_path, a="int x;".encode("utf-16"))
    with pytest.raises(GenError, match="UTF-8"):
        preprocess([tmp_path / "a.h"])


@pytest.mark.parametrize("text", ["int caf\u00e9;", "int a$b;", "int a @ b;", 'char* s = "never closed;\n'])
def test_what_is_no_word_of_c_is_refused_at_its_place(text: str) -> None:
    refused(f"\n{text}", line=2)


def test_a_byte_that_is_no_utf_8_is_refused_outside_comments(tmp_path: Path) -> None:
    written(tmp_path, a=b"/* caf\xe9 */ int caf\xe9;")
    from gen.parse import parse

    with pytest.raises(GenError, match=r"a\.h:1"):
        parse(preprocess([tmp_path / "a.h"]))


def test_long_files_take_no_time_for_their_length(tmp_path: Path) -> None:
    disabled = "#if 0\n" + "int x; " * 20_000 + "\n#endif\n"
    assert words(disabled + "int " + ", ".join(f"f{i}" for i in range(20_000)) + ";").endswith("f19999 ;")


# Includes.


def test_includes_are_followed_and_each_file_is_read_once(tmp_path: Path) -> None:
    written(tmp_path, a='#include "b.h"\n#include "c.h"\nint a;', b='#pragma once\n#include "c.h"\nint b;')
    written(tmp_path, c="#ifndef C_H\n#define C_H\nint c;\n#endif\n")
    source = preprocess([tmp_path / "a.h", tmp_path / "b.h", tmp_path / "c.h", tmp_path / "a.h"])
    assert [t.text for t in source.tokens if t.text in "abc"] == ["c", "b", "a"]
    assert [t.coord.file for t in source.tokens if t.text == ";"] == ["c.h", "b.h", "a.h"]
    assert set(source.hashes) == {"a.h", "b.h", "c.h"}


def test_includes_are_found_beside_the_header_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "sub").mkdir()
    written(tmp_path / "in" / "sub", b='#include "../c.h"\n')
    written(tmp_path / "in", a='#include "sub/b.h"\n', c="int c;")
    written(tmp_path, d="int d;")
    monkeypatch.chdir(tmp_path)
    assert [t.text for t in preprocess([Path("in/a.h")]).tokens] == ["int", "c", ";"]
    with pytest.raises(GenError, match=r'header\.h:1: #include "d\.h": no such file'):
        preprocess_text('#include "d.h"\n')


def test_headers_that_include_one_another_without_a_guard_are_refused(tmp_path: Path) -> None:
    written(tmp_path, a='#include "a.h"\n')
    with pytest.raises(GenError, match=r"a\.h:1: .*without an end"):
        preprocess([tmp_path / "a.h"])


def test_two_headers_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    written(tmp_path / "sub", a="int x;")
    written(tmp_path, a='#include "sub/a.h"\n')
    with pytest.raises(GenError, match="two headers are called"):
        preprocess([tmp_path / "a.h"])


def test_standard_headers_have_stand_ins_and_others_are_refused() -> None:
    assert words('#include <stdint.h>\n#include "stddef.h"\n#define H <string.h>\n#include H\nint x;') == "int x ;"
    with pytest.raises(GenError, match=r"header\.h:2: #include <windows\.h>"):
        preprocess_text("\n#include <windows.h>\n")


# Directives.


def test_conditions() -> None:
    text = (
        "#define N 3\n#if N == 3 && defined(N) && !defined X && 'a' == 97 && 0x10ULL == 16 && -1 < 0\nint yes;\n#endif"
    )
    assert words(text) == "int yes ;"
    assert words("#if 0\nint a;\n#elif UNKNOWN\nint b;\n#else\nint c;\n#endif") == "int c ;"
    assert words("#ifdef X\nint a;\n#elifdef Y\nint b;\n#elifndef Z\nint c;\n#endif") == "int c ;"
    assert words("#if __STDC_VERSION__ >= 201112L && !defined(__cplusplus)\nint c;\n#endif") == "int c ;"
    assert words('#if __has_include("x.h")\nint a;\n#else\nint b;\n#endif') == "int b ;"
    assert words("#\n#warning careful\nint x;") == "int x ;"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#error not for you", "header.h:1: #error not for you: the header refuses to be read"),
        ("#include_next <a.h>", "header.h:1: #include_next"),
        ('# 12 "x.h"', 'header.h:1: #12 "x.h"'),
        ("#line 5", "header.h:1: #line 5"),
        ("#embed <x>", "header.h:1: #embed"),
        ("\n#define", "header.h:2: malformed #define"),
        ("#ifdef\n#endif", "header.h:1: malformed #ifdef"),
        ("#include x", "header.h:1: malformed #include x"),
        ("#ifdef X\n", "header.h:1: Unterminated #ifdef X"),
        ("\n#endif", "header.h:2: Misplaced #endif"),
        ("#else", "header.h:1: Misplaced #else"),
        ("#if 1 +\n#endif", "header.h:1: Could not evaluate"),
        ("#if F(3)\n#endif", "header.h:1: Could not evaluate"),
        ("int x; /* open", "header.h:1: this comment is never closed"),
        ("#define F(x, y) x\nint F(1);", "header.h:2: Macro F requires 2 arguments"),
        ("int x; \\  \nint y;", "header.h:1: \\ and blanks at the end of a line"),
        ("// comment \\ \nint y;", "header.h:1: \\ and blanks at the end of a line"),
    ],
)
def test_directives_and_text_that_cannot_be_followed(text: str, message: str) -> None:
    with pytest.raises(GenError) as caught:
        preprocess_text(text)
    assert str(caught.value).startswith(message)


# Macros.


def test_macro_expansion() -> None:
    assert words("#define N 5\n#define F(x) x + N\nint a[F(2)];") == "int a [ 2 + 5 ] ;"
    assert words("#define F(x) x\n#define E\nF E (3) F\n(4)") == "F ( 3 ) 4"  # a call is found before E is expanded
    assert words("#define S(x) #x\n#define X(x) S(x)\n#define V 5\nS(a  b) X(V)") == '"a b" "5"'
    assert words("#define C(a, b) a##b\nC(x, 1) C(0x, 10ULL)") == "x1 0x10ULL"
    assert words("#define V(...) __VA_ARGS__\n#define G(a, ...) a\nV(1, 2) G(3, 4)") == "1 , 2 3"
    assert words("#define X X + 1\nX") == "X + 1"
    assert words("#define A 1\n#undef A\nA") == "A"
    assert (
        words("ORT_API_CALL ORTCHAR_T\n#define ORT_API_CALL __stdcall\nORT_API_CALL")
        == "ORT_API_CALL ORTCHAR_T ORT_API_CALL"
    )


def test_macros_are_kept_as_the_headers_leave_them() -> None:
    macros = preprocess_text("#define A B\n#define B 7\n#define F(x) x\n#define G F(B)\n#define H\n#undef H\n").macros
    assert {name: macro.body for name, macro in macros.items()} == {"A": "7", "B": "7", "F": None, "G": "7"}
    assert macros["F"].function and macros["F"].why == "it takes arguments"
    assert macros["G"].coord == Coord("header.h", 4)


def test_what_is_predefined_is_no_macro_of_the_header() -> None:
    assert preprocess_text("int x = INT32_MAX;").macros == {}
    assert words("INT64_C(5) UINT64_MAX __FILE__ __LINE__") == "5LL 18446744073709551615ULL __FILE__ __LINE__"
