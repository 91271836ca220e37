"""The documentation's test machinery: what the reader sees on a page is what ran.

`conftest.py` at the root of the repository hands every file that pytest meets to `collect.py`. In the order of the way:

    site.py       the pages, as the configuration of MkDocs has them, and what is known for the whole test session
    includes.py   a page with its includes expanded, each line knowing where it was written
    fences.py     the code blocks of a page
    skips.py      ... of which some are skipped, with a reason
    census.py     ... and which are those that the site shows: none is passed over
    evaluate.py   runs a Python fence
    programs.py   runs a whole program from snippets/, once
    notebooks.py  runs a notebook
    output.py     compares what was printed with what the page says
    trace.py      says where an error is to be mended
    complete.py   each section and each program is on some page
    collect.py    makes Sybil documents, and so pytest items, of all this
"""
