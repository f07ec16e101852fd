"""The screens: main, ledger, card, help."""
