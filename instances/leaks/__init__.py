"""What the image of an instance gives away."""
