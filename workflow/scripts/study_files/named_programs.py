"""Whether a study as somebody wrote it names files of programs; without the schema, which the analysis image can't read."""


def names_programs_unread(study) -> bool:
    """Return whether a study, perhaps of somebody else and of any form, names programs' files that resolving it would read."""
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
    whole = all(
        isinstance(one, dict) and (one.get("path") is None or isinstance(one.get("sha256"), str)) for one in programs
    )
    return bool(study.get("programs")) or not whole
