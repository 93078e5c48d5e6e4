"""The faces: thin, without logic of their own, on the façade."""
