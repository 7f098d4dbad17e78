"""The chapters of the contract, one module each; :func:`conformance.contract.clause.load_chapters` finds them here."""
