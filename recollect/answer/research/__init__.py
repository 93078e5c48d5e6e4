"""Research: split a question, search in rounds, and write a report with sources [0]."""

#: What is told where nothing is asked, filters alone or nothing at all, and how to ask.
NO_QUESTION = ("There is no question.", 'Give one: recollect research "compare the old flat with the new one"')
