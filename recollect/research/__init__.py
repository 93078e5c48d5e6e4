"""Research: a question taken apart, searched in several ways, and answered by a report with its sources [0]."""
