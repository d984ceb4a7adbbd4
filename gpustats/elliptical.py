class Elliptical: pass
