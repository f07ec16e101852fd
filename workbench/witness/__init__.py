"""The decode graph's result held against the count. Pure: the graph itself is built in the worker."""
