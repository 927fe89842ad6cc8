"""Macro expansion: the standard's own examples, and random macros against the C compiler's preprocessor."""

from __future__ import annotations

import random
import subprocess

import pytest

from gen.errors import GenError
from gen.lexer import lex
from gen.preprocess import preprocess_text
from tests.support.oracles import compiler


def words(text: str) -> str:
    return " ".join(token.text for token in preprocess_text(text).tokens)


# C17 6.10.3.5, example 3.
EXAMPLE = """
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);", "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);"),
        ("g(x+(3,4)-w) | h 5) & m\n(f)^m(m);", "f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);"),
        ("p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };", "int i[] = { 1, 23, 4, 5, };"),
        ("char c[2][6] = { str(hello), str() };", 'char c[2][6] = { "hello", "" };'),
    ],
)
def test_the_examples_of_the_standard(text: str, expected: str) -> None:
    assert words(EXAMPLE + text) == " ".join(t.value for t in lex(expected, "") if t.type != "CPP_WS")


def test_strings_of_arguments() -> None:
    text = '#define s(x) #x\ns( a  +\n b ) s("q\\n") s(\'"\') s(\\n) s(s(1))'
    assert words(text) == '"a + b" "\\"q\\\\n\\"" "\'\\"\'" "\\n" "s(1)"'


def test_variable_arguments() -> None:
    assert words("#define v(...) f(__VA_ARGS__)\nv() v(1) v(1, (2, 3))") == "f ( ) f ( 1 ) f ( 1 , ( 2 , 3 ) )"
    assert words("#define v(a, ...) f(a , ## __VA_ARGS__)\nv(1) v(1, 2, 3)") == "f ( 1 ) f ( 1 , 2 , 3 )"
    assert words("#define v(a, rest...) f(a, rest)\nv(1, 2, 3)") == "f ( 1 , 2 , 3 )"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#define f(x) x\n\nf(1, 2)", "header.h:3: Macro f requires 1 arguments but was passed 2"),
        ("#define f() 1\nf(2)", "header.h:2: Macro f requires 0 arguments but was passed 1"),
        ("#define f(x, ...) x\n#define g(x, y) f()\ng(1)", "header.h:3: Macro g requires 2 arguments"),
        ("#define f(x) x\nf(1", "header.h:2: the call of macro f is never closed"),
        ("#define f(x, y) x ## y\nf(+, *)", "header.h:2: + ## * makes no token"),
        ("#define f(x, ...) x, ## __VA_ARGS__\nf(1,)", "header.h:2: , ## before nothing: compilers differ"),
        ("#define f(...) __VA_OPT__(x)\nf(1)", "header.h:1: __VA_OPT__"),
    ],
)
def test_calls_that_do_not_fit_are_refused(text: str, message: str) -> None:
    with pytest.raises(GenError) as caught:
        preprocess_text(text)
    assert str(caught.value).startswith(message)


def test_calls_that_are_nested_too_deeply_are_refused() -> None:
    with pytest.raises(GenError, match=r"header\.h: macro calls are nested too deeply"):
        preprocess_text(f"#define f(x) x\n{'f(' * 5000}1{')' * 5000}")


def test_an_expansion_stands_on_the_line_of_its_call() -> None:
    tokens = preprocess_text("#define f(x) a x\n#define b b2\n\nf(\nb\n) c").tokens
    assert [(t.text, t.coord.line) for t in tokens] == [("a", 4), ("b2", 4), ("c", 6)]


PARAMETERS = {"": None, "()": [], "(x)": ["x"], "(x, y)": ["x", "y"], "(...)": ["__VA_ARGS__"]}
ATOMS = ["1", "q", "(3,4)", "", "a  b", '"t\\n"', "+"]


class _Program:
    """Seven macros, each made of later ones, and some calls."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = [f"M{seed}_{letter}" for letter in "ABCDEFG"]
        self.heads = {name: self.random.choice(list(PARAMETERS)) for name in self.names}
        defined = [f"#define {name}{head} {self.body(i)}" for i, (name, head) in enumerate(self.heads.items())]
        self.text = "\n".join([*defined, *(f"{self.call(self.names, ATOMS, 2)} ;" for _ in range(6)), ""])

    def body(self, index: int) -> str:
        parameters = PARAMETERS[self.heads[self.names[index]]] or []
        parts: list[str] = []
        for _ in range(self.random.randint(0, 6)):
            kind = self.random.random()
            if parameters and kind < 0.4:
                parts.append(self.random.choice(["", "", "#"]) + self.random.choice(parameters))
            elif kind < 0.5 and parts and parts[-1].isidentifier():
                parts += ["##", self.random.choice([*parameters, "1", "q"])]
            elif kind < 0.8:
                parts.append(self.call(self.names[index + 1 :], [*parameters, "1", "q"], 1))
            else:
                parts.append(self.random.choice(["1", "+", "q", ",", "(2)", '"s"']))
        return " ".join(parts)

    def call(self, names: list[str], atoms: list[str], depth: int) -> str:
        if not names:
            return "1"
        name = self.random.choice(names)
        parameters = PARAMETERS[self.heads[name]]
        if parameters is None or self.random.random() < 0.1:
            return name
        count = self.random.randint(0, 3) if parameters == ["__VA_ARGS__"] else len(parameters)
        given = [self.argument(names, atoms, depth) for _ in range(count)]
        return f"{name}({', '.join(given)})"

    def argument(self, names: list[str], atoms: list[str], depth: int) -> str:
        if depth and self.random.random() < 0.5:
            return self.call(names, atoms, depth - 1)
        return self.random.choice(atoms)


def test_random_macros_expand_as_the_compiler_expands_them() -> None:
    ours: list[str] = []
    accepted = ""
    for seed in range(150):
        text = _Program(seed).text
        try:
            ours += [token.text for token in preprocess_text(text).tokens]
        except GenError:  # ## makes no token; then the compiler refuses it as well
            continue
        accepted += text
    command = [compiler(), "-E", "-P", "-std=gnu17", "-x", "c", "-"]
    done = subprocess.run(command, input=accepted, capture_output=True, text=True, check=True)
    theirs = [token.value for token in lex(done.stdout, "") if token.type != "CPP_WS"]
    # Where a blank stands within a string that was made of an expansion is not for the standard to say.
    assert [word.replace(" ", "") for word in ours] == [word.replace(" ", "") for word in theirs]
    assert len(ours) > 5000
