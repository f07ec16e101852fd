"""The three themes: dark, light for projectors, high contrast. Text keeps 4.5:1 on every ground (tested).

Colours by role follow Okabe and Ito, fitted to the ground; letters say the same without colour.
"""

from textual.theme import Theme

DARK = Theme(
    name="workbench-dark",
    primary="#58b4f0",
    secondary="#7f9bb3",
    accent="#58b4f0",
    foreground="#dde3e9",
    background="#0f1317",
    surface="#0f1317",
    panel="#1b2229",
    success="#2fc79b",
    warning="#f0b429",
    error="#ff8077",
    dark=True,
    variables={
        "quiet": "#98a4af",
        "line": "#46525d",
        "role-vision": "#56b4e9",
        "role-audio": "#8fc9f0",
        "role-projector": "#7fb0d0",
        "role-embedding": "#f0e442",
        "role-head": "#e69f00",
        "role-expert": "#2fc79b",
        "role-draft": "#e79ac3",
        "ceiling": "#f0a030",
        "prediction": "#7cc5f5",
        "rate": "#e8edf2",
        "mean": "#2fc79b",
    },
)

LIGHT = Theme(
    name="workbench-light",
    primary="#005a94",
    secondary="#4a5a68",
    accent="#005a94",
    foreground="#15191d",
    background="#ffffff",
    surface="#ffffff",
    panel="#eceff2",
    success="#006b4f",
    warning="#7a4f00",
    error="#b3261e",
    dark=False,
    variables={
        "quiet": "#55606a",
        "line": "#9aa5af",
        "role-vision": "#00619e",
        "role-audio": "#2a6f97",
        "role-projector": "#3d5a80",
        "role-embedding": "#6b6100",
        "role-head": "#8a5a00",
        "role-expert": "#00684c",
        "role-draft": "#99417a",
        "ceiling": "#a34700",
        "prediction": "#00619e",
        "rate": "#15191d",
        "mean": "#00684c",
    },
)

CONTRAST = Theme(
    name="workbench-high-contrast",
    primary="#ffff00",
    secondary="#ffffff",
    accent="#ffff00",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1a1a1a",
    success="#00ff9c",
    warning="#ffcf40",
    error="#ff9d94",
    dark=True,
    variables={
        "quiet": "#d0d0d0",
        "line": "#ffffff",
        "role-vision": "#7fd4ff",
        "role-audio": "#a8e2ff",
        "role-projector": "#8fd0ff",
        "role-embedding": "#ffff66",
        "role-head": "#ffb000",
        "role-expert": "#00ff9c",
        "role-draft": "#ffb3dc",
        "ceiling": "#ffb000",
        "prediction": "#7fd4ff",
        "rate": "#ffffff",
        "mean": "#00ff9c",
    },
)

THEMES: tuple[Theme, ...] = (DARK, LIGHT, CONTRAST)


def theme_name(word: str) -> str:
    """The theme's name for `dark`, `light`, `high-contrast` or a full name; ValueError for anything else."""
    for theme in THEMES:
        if word in (theme.name, theme.name.removeprefix("workbench-")):
            return theme.name
    raise ValueError(f"no theme {word!r}: dark, light or high-contrast")
