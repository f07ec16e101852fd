"""Real steps with damaged weights: what the damage job is made of."""
