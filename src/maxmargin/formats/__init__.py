"""Files that taggers and classifiers are trained on, read into what encoders and estimators take."""

from .attributes import AttributeFile, iterate_attributes, read_attributes
from .columns import Column, TokenColumns, column, iterate_columns, read_columns
from .errors import FileFormatError
from .svmlight import NumberedFile, iterate_svmhmm, read_multilabel, read_svmhmm, read_svmlight

__all__ = [
    "AttributeFile",
    "Column",
    "FileFormatError",
    "NumberedFile",
    "TokenColumns",
    "column",
    "iterate_attributes",
    "iterate_columns",
    "iterate_svmhmm",
    "read_attributes",
    "read_columns",
    "read_multilabel",
    "read_svmhmm",
    "read_svmlight",
]
