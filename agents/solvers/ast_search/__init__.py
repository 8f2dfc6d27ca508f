"""AutoCodeRover's way: search the syntax trees, name the places, write the patch."""
