"""What listens: one application of all the faces that are reached over HTTP, and what guards it."""
