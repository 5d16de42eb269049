from calbench.protocols.registry import POLICIES, build_policy


def test_policy_is_built_by_its_name() -> None:
    for name, make in POLICIES.items():
        assert isinstance(build_policy(name, {}), make)  # type: ignore[arg-type]


def test_policy_is_absent_when_its_name_is_unknown() -> None:
    assert build_policy("calbench.protocols.imap.Imap", {}) is None
