"""What a tensor is for. Roles carry a letter besides their colour, so that no screen needs colour alone."""

from enum import StrEnum


class Role(StrEnum):
    """A tensor's part in the model, in the field's standard terms."""

    ATTENTION = "attention"
    LINEAR_ATTENTION = "linear_attention"
    MLP = "mlp"
    NORM = "norm"
    ROUTER = "router"
    EXPERT = "expert"
    SHARED_EXPERT = "shared_expert"
    EMBEDDING = "embedding"
    HEAD = "head"
    VISION = "vision"
    AUDIO = "audio"
    PROJECTOR = "projector"
    DRAFT = "draft"
    POSITION = "position"
    OTHER = "other"


LETTERS: dict[Role, str] = {
    Role.VISION: "V",
    Role.AUDIO: "A",
    Role.PROJECTOR: "P",
    Role.EMBEDDING: "E",
    Role.HEAD: "H",
    Role.EXPERT: "X",
    Role.DRAFT: "D",
}
"""The letters of the roles that a reader must tell apart at a glance; the others have none."""
