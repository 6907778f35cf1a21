"""Features of tokens as people write them, made sparse rows."""

from . import stored  # noqa: F401  (says what of it may be in model files)
from .encoder import DictEncoder
from .hasher import DictHasher
from .indices import IndexEncoder
from .template_encoder import TemplateEncoder
from .tokens import LISTS, Coded, are_attributes

__all__ = ["LISTS", "Coded", "DictEncoder", "DictHasher", "IndexEncoder", "TemplateEncoder", "are_attributes"]
