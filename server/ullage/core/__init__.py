"""The domain: values in, values out; no file, clock, network, log or protocol."""
