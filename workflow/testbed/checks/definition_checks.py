"""Checks of what a study defines: the CCAs' parameters and the custom kernel."""

from testbed.checks.check import Check
from testbed.machine.environment import kernel_of


def check_parameters(specification, document) -> Check:
    """The parameters of the kernel's CCAs had the values that the study defines."""
    read_back = document["network"]["read_back"]["cca_parameters"]
    wanted = [
        (one.module, name, value)
        for one in specification.definitions.values()
        for name, value in one.parameters.items()
    ]
    seen = [(module, name, read_back[module][name]) for module, name, _ in wanted]
    ok = all(_same(text, value) for (_, _, text), (_, _, value) in zip(seen, wanted, strict=True))
    return Check("parameters", ok, _words(wanted), _words(seen))


def _same(text, value):
    """Return whether a value, as the kernel prints it, equals a parameter's value; the kernel prints bools as Y or N."""
    return text in (("N", "0"), ("Y", "1"))[value] if value in (0, 1) else text == str(value)


def _words(parameters):
    return (
        ", ".join(f"{module}.{name} {int(v) if isinstance(v, bool) else v}" for module, name, v in parameters) or "none"
    )


def check_kernel(specification, document) -> Check:
    """The run used the study's custom kernel, identified by its build number."""
    wanted, build = kernel_of(specification), document["environment"]["kernel_build"]
    return Check("kernel", build.startswith(f"#{wanted} "), f"build {wanted}", build)


def checks_of(specification) -> tuple:
    """Return the checks of a study's definitions that apply to a run."""
    if specification.platform != "uml":
        return ()
    parameters = any(one.parameters for one in specification.definitions.values())
    return (*((check_parameters,) if parameters else ()), *((check_kernel,) if specification.has_own_kernel else ()))
