"""Other people's command-line agents: adapters (YAML), installers, the bridge to the model, record importers."""
