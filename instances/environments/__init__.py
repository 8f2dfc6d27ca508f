"""Recipe -> lock -> image chain -> test plan."""
