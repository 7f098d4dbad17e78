"""What to ask: values from recipes, cases by choice, case files, and their shrinking; nothing here knows a target."""
