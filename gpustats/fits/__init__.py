"""Maximum likelihood for any density, of one data set or of thousands at once."""
