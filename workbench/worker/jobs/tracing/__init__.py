"""The decode graph, built and read without its weights: what the trace job is made of."""
