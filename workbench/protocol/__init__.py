"""The six steps: stamp, count, predict, warm up, measure, record. Both doors drive this room."""
