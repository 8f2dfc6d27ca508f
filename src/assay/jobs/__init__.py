"""What every front door does, one module a verb, and where it does it: workplace, workbench, view, advisor."""
