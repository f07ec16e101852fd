"""Allowing powermetrics without a password: the line to add, and what its refusals mean.

Prints only: nothing here changes a file or asks for a password.
"""

import getpass
import re

PATH = "/usr/bin/powermetrics"
SAFE_USER = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*")


def sudoers_line(user: str | None = None) -> str:
    """The sudoers line for `user` (default: the current one): powermetrics as root, nothing else.

    A user name that sudoers would read as something else (`%group`, `ALL`, spaces) raises ValueError.
    """
    user = getpass.getuser() if user is None else user
    if not SAFE_USER.fullmatch(user) or user == "ALL":
        raise ValueError(f"cannot write a sudoers line for the user name {user!r}")
    return f"{user} ALL=(root) NOPASSWD: {PATH}"


def doctor_text(user: str | None = None) -> str:
    """What `workbench doctor` prints about powermetrics: the line, where it goes, how to take it back."""
    return (
        "powermetrics reads the chip's power and needs root. To allow it without a password, run\n"
        "    sudo visudo -f /etc/sudoers.d/powermetrics\n"
        "and put this one line there:\n"
        f"    {sudoers_line(user)}\n"
        "It allows that one program and nothing else. To take it back: sudo rm /etc/sudoers.d/powermetrics\n"
        "Nothing was changed. Without it, IOReport and macmon measure the same rails without root."
    )


def why_not(status: int, complaint: str, seen: int) -> str:
    """Why powermetrics ended by itself, from its exit status, its stderr and the documents seen before."""
    if "password is required" in complaint or "a terminal is required" in complaint:
        return "sudo asks for a password; `workbench doctor` prints the line that allows powermetrics"
    if "superuser" in complaint:
        return "powermetrics needs root; `workbench doctor` prints the sudoers line that allows it"
    if "not allowed" in complaint or "may not run" in complaint:
        return "sudo does not allow powermetrics for this user; `workbench doctor` prints the line that does"
    if "pmgr" in complaint and not seen:
        return "this machine has no power sensors (a virtual machine?): " + first_line(complaint)
    said = f": {first_line(complaint)}" if complaint else ""
    if not seen:
        return f"powermetrics ended at once with exit status {status} and no sample{said}"
    if status == 0:
        return f"powermetrics ended after {seen} samples, as its own count told it{said}"
    return f"powermetrics ended after {seen} samples with exit status {status}{said}"


def first_line(text: str) -> str:
    """The first line of a program's complaint, printable and short."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return "".join(c if c.isprintable() else "?" for c in line)[:200]
