"""The process that holds mlx: typed messages, its client, and its jobs. Only `jobs` imports mlx."""
