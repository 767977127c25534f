"""A defect, as only one of labadapt itself can be."""

from labadapt.schema import problems


class Broken(dict):
    def __iter__(self):
        raise ZeroDivisionError("\x1b[31mboom")


problems.CODES = Broken(problems.CODES)
