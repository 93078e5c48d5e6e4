"""The pages: each file has the routes of a domain."""
