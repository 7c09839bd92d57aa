"""Leader devices. The only files beside rigs and doctor that import i2rt."""
