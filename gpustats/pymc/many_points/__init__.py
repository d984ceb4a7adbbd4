"""Models evaluated at many points at once."""
