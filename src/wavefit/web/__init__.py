"""The local page: the same answers to look at, in a browser of the same machine.

`guard` lets in only who holds the token, `pages` and `api` answer, `uploads` takes files in, `worker` reads
them in a process that can be killed, `drawing` makes curves of plain numbers.

The framework is FastAPI, on Starlette, for the OpenAPI document and the checks of every parameter that come
with it. The script is our own, 150 lines without a build step: every page is a form that also works without
it, and HTMX would bring ten times as much for the one thing needed, the exchange of a form's answer. Curves
are SVG written by the template: vl-convert takes longer for the four of a Fit than all the rest of an answer
(`bench/web.py`), and sets inline styles, which the page's policy forbids.
"""
