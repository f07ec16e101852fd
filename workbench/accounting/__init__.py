"""What one decode step reads: every tensor gets a role, a share and a rule. Standard library only."""
