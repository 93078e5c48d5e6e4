"""What the REST API takes and gives, as pydantic models. Where the command line has a document, the names are its."""
