"""Files that taggers and classifiers are trained on, read into what encoders and estimators take."""

from .attributes import AttributeFile, read_attributes
from .columns import Column, TokenColumns, column, read_columns
from .errors import FileFormatError
from .svmlight import NumberedFile, read_multilabel, read_svmhmm, read_svmlight

__all__ = [
    "AttributeFile",
    "Column",
    "FileFormatError",
    "NumberedFile",
    "TokenColumns",
    "column",
    "read_attributes",
    "read_columns",
    "read_multilabel",
    "read_svmhmm",
    "read_svmlight",
]
