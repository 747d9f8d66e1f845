"""Serve a GGUF model on loopback: `python serve.py MODEL.gguf CONTEXT_TOKENS`, needs xllamacpp.

Prints its address in one line, and ends with its standard input.
"""

import sys

import xllamacpp


def main() -> None:
    model, n_ctx = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"local"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = int(n_ctx)
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.ui = False
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main()
