"""Questions, statements, follow-ups and names written for this project, and the tools that read and check them."""
