"""Find program names and files in an unvalidated study without using the schema, which the analysis image can't read."""


def names_programs_unread(study) -> bool:
    """Return whether resolving a possibly invalid study would read program files, because their digests are missing."""
    scenarios = study.get("scenarios")
    scenarios = [one for one in scenarios if isinstance(one, dict)] if isinstance(scenarios, list) else []
    lists = (
        one.get(key)
        for one in (*scenarios, study.get("defaults") or {})
        if isinstance(one, dict)
        for key in ("flows", "groups")
    )
    groups = (group for groups in lists if isinstance(groups, list) for group in groups if isinstance(group, dict))
    programs = [group["program"] for group in groups if group.get("program") is not None]
    declared = study.get("programs") or {}
    programs += declared.values() if isinstance(declared, dict) else [declared]
    return not all(
        isinstance(one, dict) and (one.get("path") is None or isinstance(one.get("sha256"), str)) for one in programs
    )


def names_of(programs) -> list[str]:
    """Return the names that `ccas` may use for the programs of an unvalidated study.

    If a program has CCAs, there is one name ``name:cca`` for each of them; otherwise, only the program's own name is returned.
    """
    if not isinstance(programs, dict):
        return []
    named = [(name, one.get("ccas") or [None]) for name, one in programs.items() if isinstance(one, dict)]
    return [
        f"{name}:{cca}" if isinstance(cca, str) else name
        for name, ccas in named
        if isinstance(name, str) and isinstance(ccas, list)
        for cca in ccas
    ]
