"""A block that a model wants to replace and that is nowhere in a long file, through the whole server."""

from lsp_server.core.prompt import Style
from tests.lsp.desk import URI, desk
from tests.support.scripted_model import ScriptedModel

LINES = "".join(f"    value = compute({number % 40}, other)\n" for number in range(20_000))
BLOCK = "".join(f"    value = compute({number}, missing)\n" for number in range(40))
OTHER = "file:///w/b.py"


async def test_B125_a_block_that_is_nowhere_is_refused_and_another_file_is_completed_meanwhile() -> None:
    roomy = ScriptedModel(style=Style("chat", budget=10**7))
    async with desk(f"def f():\n{LINES}", options={"edit": {"format": "hunks"}}, model=roomy) as client:
        other = client.open(OTHER, "x = <|>\n")
        where = client.range(URI, 0, 0)["start"]
        argument = {"uri": URI, "position": where, "instruction": "x", "wait": True}
        _, answer = client.start("midstream.edit", argument)
        edit = await client.call()
        edit.say(f"<<<<<<< SEARCH\n{BLOCK}=======\n    pass\n>>>>>>> REPLACE\n")
        _, asked = client.ask(OTHER, other.at)
        completion = await client.call(1)
        completion.finish("1")
        assert (await asked)["items"][0]["insertText"] == "1"
        edit.finish()
        result = await answer
        assert result["outcome"] == "rejected" and result["message"].endswith(".")
        assert client.text(URI) == f"def f():\n{LINES}"
