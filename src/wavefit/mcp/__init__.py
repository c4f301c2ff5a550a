"""The answers of wavefit for coding agents, over the Model Context Protocol.

`places` keeps files inside the folders given at start, `child` runs a command where its death is an error
line, `bounded` cuts answers to a size and marks what comes from foreign files, `server` speaks the protocol.
"""
