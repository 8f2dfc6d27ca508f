"""The interfaces in which the metering proxy answers, one module each; ``base`` says what a form is."""
