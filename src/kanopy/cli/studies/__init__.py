"""Commands that study a table or a release: check, risk, assess, attack, cells, evidence."""
