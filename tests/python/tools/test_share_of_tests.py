"""tools/share_of_tests.py: the share of the long tail that a commit runs."""

from share_of_tests import SHARES, share


def test_ten_commits_in_a_row_run_all_shares():
    shares = {share(str(count), "", False) for count in range(1234, 1234 + SHARES)}
    assert shares == set(range(SHARES))


def test_the_hash_chooses_where_the_number_is_not_known():
    assert share("1", "00ff", True) == 0x00FF % SHARES


def test_outside_a_repository():
    assert share("", "", False) == 0
