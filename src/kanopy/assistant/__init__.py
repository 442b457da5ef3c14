"""An assistant drives Kanopy without seeing a row: `kanopy mcp FOLDER` (docs/decisions/0220-assistants.md)."""
