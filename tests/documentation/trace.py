"""Says where an example failed, in the words of the reader's files and not of the machinery's."""

import traceback

from .site import Site


def report(error: BaseException, site: Site) -> str:
    """The place to mend, the error, and the traceback from where the example begins."""
    frame = error.__traceback__
    while frame and not site.is_example(frame.tb_frame.f_code.co_filename):
        frame = frame.tb_next
    places = [(entry.filename, entry.lineno) for entry in traceback.extract_tb(frame)]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    file, number = [place for place in places if site.is_example(place[0])][-1]
    text = "".join(traceback.format_exception(type(error), error, frame))
    return f"{site.name(file)}:{number}: {type(error).__name__}: {error}\n\n{text}"
