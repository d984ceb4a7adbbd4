"""Elliptical densities: functions of a squared Mahalanobis distance, evaluated, differentiated and drawn from."""
