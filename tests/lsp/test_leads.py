"""How long it took from a diagnostic, or from a request, to what the user accepted."""

from lsp_server.lsp.leads import REMEMBERED, Leads

URI = "file:///w/a.py"


def test_a_fix_counts_from_its_first_offer_and_another_edit_from_its_request() -> None:
    leads = Leads()
    leads.offered(URI, "unused import", 10.0)
    leads.offered(URI, "unused import", 12.0)
    leads.began("e1", URI, ["unused import"], 15.0)
    leads.began("e2", URI, [], 16.0)
    leads.began("e3", URI, ["never offered"], 17.0)
    assert leads.accepted("e1", 18.0) == (8000.0, "diagnostic")
    assert leads.accepted("e2", 18.0) == (2000.0, "request")
    assert leads.accepted("e3", 18.0) == (1000.0, "diagnostic")


def test_a_diagnostic_that_comes_back_after_its_fix_counts_anew() -> None:
    leads = Leads()
    for start in (0.0, 100.0):
        leads.offered(URI, "unused import", start)
        leads.began("e", URI, ["unused import"], start + 1)
        assert leads.accepted("e", start + 2) == (2000.0, "diagnostic")
    assert leads.accepted("e", 200.0) is None


def test_what_nobody_accepts_is_forgotten() -> None:
    leads = Leads()
    for number in range(2 * REMEMBERED):
        leads.offered(URI, str(number), 0.0)
        leads.began(f"e{number}", URI, [], 0.0)
    assert len(leads._offered) == len(leads._began) == REMEMBERED
