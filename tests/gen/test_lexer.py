"""Text to preprocessing tokens, as C cuts them."""

from __future__ import annotations

import copy

import pytest

from gen.errors import GenError
from gen.lexer import Lexer, PPToken, directive, lex, lines


def words(text: str) -> list[str]:
    return [token.value for token in lex(text, "a.h") if token.type != "CPP_WS"]


@pytest.mark.parametrize(
    "text",
    [
        "0x10ULL 1'000'000 0b101 1.5e-3f 0x1.8p+3 .5 1. 1e+5L 0xe",
        'u8"a" L"b" u"c" U"d" "e\\"f" L\'g\' u8\'h\' \'\\\'\' "" \'it\\\'s\'',
        "a -> b ++ -- << >> <<= >>= <= >= == != && || += -= *= /= %= &= ^= |= ... ## # ? : ; , . ( ) [ ] { } ~ ^ |",
        "u8 L u U u8x Lx _a1 A_2",
    ],
)
def test_words_are_cut_where_c_cuts_them(text: str) -> None:
    assert words(text) == text.split(" ")


def test_operators_take_as_much_as_they_can() -> None:
    assert words("a+++b<<=c...d") == ["a", "++", "+", "b", "<<=", "c", "...", "d"]
    assert words("1+2 0xe+1 1e+1") == ["1", "+", "2", "0xe+1", "1e+1"]  # one number, and no valid one: so says C


def test_comments_are_found_outside_of_strings_only() -> None:
    assert words('"/* no */" /* yes */ "// no" // yes') == ['"/* no */"', "/* yes */", '"// no"', "// yes"]
    assert words("/**/a/***/b/* * / */c") == ["/**/", "a", "/***/", "b", "/* * / */", "c"]
    with pytest.raises(GenError, match=r"a\.h:2: this comment is never closed"):
        lines("\n/* open", "a.h")


def test_lines_are_counted_through_comments_and_continuations() -> None:
    [tokens] = lines("a /* \n\n */ b \\\n c\\\nd\n\ne", "a.h")
    assert [(t.value, t.lineno) for t in tokens] == [("a", 1), ("b", 3), ("cd", 4), ("e", 7)]
    assert [t.spaced for t in tokens] == [False, True, True, True]


def test_directives_are_groups_of_their_own() -> None:
    groups = lines("int a;\nint b;\n  # define X /* \n */ 1 // two\nint c;\n#endif", "a.h")
    assert [[t.value for t in group if t.type != "CPP_WS"] for group in groups] == [
        ["int", "a", ";", "int", "b", ";"], ["#", "define", "X", "1"], ["int", "c", ";"], ["#", "endif"],
    ]  # fmt: skip
    name, arguments = directive(groups[1])
    assert (name, [t.value for t in arguments]) == ("define", ["X", "1"])
    assert {t.lineno for t in groups[1]} == {3}
    assert directive(groups[0]) == ("", []) and directive(lines("#\n", "a.h")[0]) == ("#", [])


def test_long_text_comes_in_parts_that_end_with_a_line() -> None:
    groups = lines("int x;\n" * 1000, "a.h")
    assert len(groups) > 2 and all(group[0].value == "int" or group[0].type == "CPP_WS" for group in groups)
    assert sum(token.value == "int" for group in groups for token in group) == 1000


def test_a_copy_is_equal_and_its_own() -> None:
    token = PPToken("CPP_ID", "x", 3, "a.h", True)
    token.hidden = frozenset({"A"})
    twin = copy.copy(token)
    twin.value = "y"
    assert (token.value, twin.type, twin.lineno, twin.source) == ("x", "CPP_ID", 3, "a.h")
    assert twin.spaced and twin.hidden == {"A"}


def test_pcpp_can_probe_it() -> None:
    lexer = Lexer()
    lexer.input("\\     \n")
    token = lexer.token()
    assert token is not None and token.value == "     "
    assert lexer.token() is None and lexer.clone().token() is None
