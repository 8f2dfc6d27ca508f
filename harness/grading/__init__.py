"""Evidence -> verdict, without input or output."""
