"""One module per job. These, and nothing else in the house, import mlx and mlx_lm, inside their functions."""
