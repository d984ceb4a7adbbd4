"""Mixed models: effects of groups that are normal, with covariances that are estimated, integrated out of the likelihood."""
