"""Random draws: streams, samplers, categories."""
