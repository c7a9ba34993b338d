"""The names in code, without the words that every file of a language has."""

import re
from sys import intern

NAME = re.compile(r"(\.|->|::)?\b([^\W\d]\w{2,})")
"""A name of at least three characters, and whether it is reached through something."""

LONGEST_LINE = 400
"""Characters of a line that are looked at: longer ones are data."""

_WORDS = """
abstract and any array assert async auto await base bool boolean break byte case catch char class cls
const constructor continue debugger declare def default defer del delete describe dict do done double elif
else elsif end enum err error esac eval except export extends extern false final finally float fmt for
foreach from func function get global goto has if impl implements import include inline int integer
interface internal into isset iter lambda len let list local long loop main make map match mod module mut
namespace new nil none not null number object operator override package pass private procedure program
protected pub public raise range readonly ref repeat require return returns sealed self set short signed
sizeof static std str string struct subroutine super switch template test then this throw throws trait
true try type typedef typename typeof undefined union unless unsafe unsigned until use using val value
values var virtual void volatile when where while with yield
"""
COMMON = frozenset(form for word in _WORDS.split() for form in (word, word.capitalize(), word.upper()))
"""Words of the languages, and words that say nothing by themselves."""


def names(text: str) -> frozenset[str]:
    """The names in `text` that may mean something elsewhere; interned, as the same ones come again."""
    return frozenset(intern(match[2]) for match in NAME.finditer(text)) - COMMON
