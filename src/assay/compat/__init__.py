"""Front doors that speak as other evaluators do: their settings in, their files out; the verdicts are Assay's."""
